/** Why an endpoint's self-description is not accepted, with the answer that whoever registers it gets. */
import type { ErrorCode } from '@engine/domain';

export interface DiscoveryRefusal {
  readonly kind: 'refused';
  /** 500: the endpoint is at fault. 400: what it describes is not allowed. */
  readonly httpStatus: 400 | 500;
  /** Some faults have no documented code. */
  readonly code: ErrorCode | undefined;
  readonly message: string;
}

/** The endpoint's answer is at fault. */
export function badAnswer(code: ErrorCode | undefined, message: string): DiscoveryRefusal {
  return { kind: 'refused', httpStatus: 500, code, message };
}

/** The services it describes break a rule. Thrown and caught inside this folder. */
export class RuleBroken extends Error {
  readonly code: ErrorCode | undefined;

  constructor(message: string, code?: ErrorCode) {
    super(message);
    this.code = code;
  }
}
