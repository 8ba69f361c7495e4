/** A broken invariant. Whoever owns the state stops using it: the partition is taken down and reopened from its store. */
export class AssertionError extends Error {
  override name = 'AssertionError';
}

/** Stays on in production, on both sides of a boundary. Throws AssertionError when `condition` is false. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Closes an exhaustive switch: it does not compile while a case is missing. Throws AssertionError when reached. */
export function assertNever(value: never, message = 'unexpected value'): never {
  throw new AssertionError(`${message}: ${describe(value)}`);
}

function describe(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'kind' in value) return String(value.kind);
  return String(value);
}
