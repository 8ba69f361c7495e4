/** What an invocation runs: a handler of a service, for keyed services together with the key. */

/** The five kinds of handler, which decide locks, state and promises (docs/design/inbox-and-keys.md). */
export type TargetKind =
  'service' | 'object-exclusive' | 'object-shared' | 'workflow-run' | 'workflow-shared';

export interface InvocationTarget {
  readonly kind: TargetKind;
  readonly service: string;
  /** Object key or workflow id; undefined exactly for kind `service`. The empty string is a legal key. */
  readonly key: string | undefined;
  readonly handler: string;
}

/** True when only one invocation at a time may run for the target's service and key. */
export function isExclusive(kind: TargetKind): boolean {
  return kind === 'object-exclusive';
}

/** True when the handler may read the keyed state of its service. */
export function readsState(kind: TargetKind): boolean {
  return kind !== 'service';
}

/** True when the handler may write the keyed state of its service. */
export function writesState(kind: TargetKind): boolean {
  return kind === 'object-exclusive' || kind === 'workflow-run';
}

/** True when the handler may use durable promises. */
export function usesPromises(kind: TargetKind): boolean {
  return kind === 'workflow-run' || kind === 'workflow-shared';
}

/** Text of a target as people read it: `Service/handler` or `Service/key/handler`. */
export function targetText(target: InvocationTarget): string {
  return target.key === undefined
    ? `${target.service}/${target.handler}`
    : `${target.service}/${target.key}/${target.handler}`;
}
