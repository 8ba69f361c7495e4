import type { FailureKind } from './messages.js';

/** Why a query ends without (the rest of) its answer. The message is shown to the caller. */
export class QueryFailure extends Error {
  readonly failure: FailureKind;

  constructor(failure: FailureKind, message: string) {
    super(message);
    this.failure = failure;
  }
}
