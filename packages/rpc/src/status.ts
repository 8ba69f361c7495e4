/** EngineError ⇄ gRPC status. The code itself travels in the trailing metadata, so that nothing is lost on the way. */

import { EngineError, isEngineError } from '@engine/domain';
import { Metadata, status, type ServiceError, type StatusObject } from '@grpc/grpc-js';

type Code = EngineError['code'];

const CODE = 'engine-code';
const REASON = 'engine-reason';

/** Words that travel. Documented codes never do: between nodes nobody meets them. */
const STATUS_OF = {
  'bad-request': status.INVALID_ARGUMENT,
  'not-found': status.NOT_FOUND,
  conflict: status.ABORTED,
  overloaded: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  storage: status.DATA_LOSS,
  internal: status.INTERNAL,
  cancelled: status.CANCELLED,
  'wrong-cluster': status.FAILED_PRECONDITION,
  incompatible: status.FAILED_PRECONDITION,
} as const satisfies Partial<Record<Code, status>>;

type TravellingCode = keyof typeof STATUS_OF;

/** For errors that come from gRPC itself and carry no code of ours. */
const CODE_OF: Readonly<Partial<Record<status, TravellingCode>>> = {
  [status.CANCELLED]: 'cancelled',
  [status.INVALID_ARGUMENT]: 'bad-request',
  [status.DEADLINE_EXCEEDED]: 'unavailable',
  [status.NOT_FOUND]: 'not-found',
  [status.RESOURCE_EXHAUSTED]: 'overloaded',
  [status.UNAVAILABLE]: 'unavailable',
  [status.UNIMPLEMENTED]: 'incompatible',
  [status.UNAUTHENTICATED]: 'incompatible',
};

/** What the other end is told. Whatever is no EngineError is `internal`. */
export function toStatus(error: unknown): StatusObject {
  const metadata = new Metadata();
  const code = isEngineError(error) && isTravelling(error.code) ? error.code : 'internal';
  metadata.set(CODE, code);
  const reason = isEngineError(error) ? error.details['reason'] : undefined;
  if (typeof reason === 'string') metadata.set(REASON, encodeURIComponent(reason));
  const details = error instanceof Error ? error.message : 'unknown error';
  return { code: STATUS_OF[code], details, metadata };
}

/** What the other end, or gRPC on the way to it, said. */
export function fromStatus(error: unknown): EngineError {
  if (isEngineError(error)) return error;
  if (!isServiceError(error))
    return new EngineError('unavailable', String(error), { cause: error });
  const [said] = error.metadata?.get(CODE) ?? [];
  const [reason] = error.metadata?.get(REASON) ?? [];
  const known = typeof said === 'string' && isTravelling(said) ? said : undefined;
  return new EngineError(known ?? CODE_OF[error.code] ?? 'internal', error.details, {
    cause: error,
    details: typeof reason === 'string' ? { reason: decodeURIComponent(reason) } : {},
  });
}

function isTravelling(code: string): code is TravellingCode {
  return Object.hasOwn(STATUS_OF, code);
}

/** Metadata is missing in errors that gRPC makes before a call has left. */
function isServiceError(
  error: unknown,
): error is Omit<ServiceError, 'metadata'> & { readonly metadata?: Metadata } {
  return error instanceof Error && 'code' in error && 'details' in error;
}
