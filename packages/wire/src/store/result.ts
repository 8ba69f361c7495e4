import type { Failure, Header, Result } from '@engine/domain';

import { missing } from '../codec.js';
import type * as gen from '../gen/engine/store/v1/result.js';

export function failureToWire(failure: Failure): gen.Failure {
  return {
    code: failure.code,
    message: failure.message,
    metadata: pairsToWire(failure.metadata),
    stacktrace: failure.stacktrace,
  };
}

export function failureFromWire(message: gen.Failure | undefined): Failure {
  if (message === undefined) return missing('failure');
  const { code, message: text, metadata, stacktrace } = message;
  return stacktrace === undefined
    ? { code, message: text, metadata }
    : { code, message: text, metadata, stacktrace };
}

export function resultToWire(result: Result): gen.Result {
  switch (result.kind) {
    case 'success':
      return { outcome: { $case: 'success', value: result.value } };
    case 'failure':
      return { outcome: { $case: 'failure', value: failureToWire(result.failure) } };
  }
}

export function resultFromWire(message: gen.Result | undefined): Result {
  const outcome = message?.outcome;
  switch (outcome?.$case) {
    case 'success':
      return { kind: 'success', value: outcome.value };
    case 'failure':
      return { kind: 'failure', failure: failureFromWire(outcome.value) };
    case undefined:
      return missing('result');
  }
}

/**
 * Pairs have one shape on both sides and the generated encoder does not write to its message, so they are shared.
 */
export function pairsToWire(pairs: readonly Header[]): gen.KeyValue[] {
  return pairs as gen.KeyValue[];
}
