/** Commands of a handler as the wire says them: decoded and shape-checked, nothing looked up yet. */

import type { Header, NotificationId, NotificationResult, Result } from '@engine/domain';

interface Named {
  readonly name: string;
  /** Message bytes as received, without the frame header: stored and replayed verbatim. */
  readonly raw: Uint8Array;
}

/** Whom an attach or output command asks about. */
export type InvocationQuery =
  | { readonly kind: 'invocation'; readonly id: string }
  | {
      readonly kind: 'workflow';
      readonly service: string;
      readonly key: string;
      readonly scope: string | undefined;
    }
  | {
      readonly kind: 'idempotent';
      readonly service: string;
      readonly key: string | undefined;
      readonly handler: string;
      readonly idempotencyKey: string;
      readonly scope: string | undefined;
    };

/** Fields that calls and one-way calls share. `key` is '' for plain services: the wire has no other way. */
interface CalleeFields {
  readonly service: string;
  readonly handler: string;
  readonly key: string;
  readonly parameter: Uint8Array;
  readonly headers: readonly Header[];
  readonly idempotencyKey: string | undefined;
  readonly scope: string | undefined;
  readonly limitKey: string | undefined;
  readonly invocationIdCompletionId: number;
}

export type HandlerCommand =
  | (Named & { readonly type: 'output'; readonly result: Result })
  | (Named & { readonly type: 'run'; readonly completionId: number })
  | (Named & { readonly type: 'get-eager-state' | 'get-eager-state-keys' | 'clear-all-state' })
  | (Named & {
      readonly type: 'get-lazy-state';
      readonly key: string;
      readonly completionId: number;
    })
  | (Named & { readonly type: 'get-lazy-state-keys'; readonly completionId: number })
  | (Named & { readonly type: 'set-state'; readonly key: string; readonly value: Uint8Array })
  | (Named & { readonly type: 'clear-state'; readonly key: string })
  | (Named & {
      readonly type: 'get-promise' | 'peek-promise';
      readonly key: string;
      readonly completionId: number;
    })
  | (Named & {
      readonly type: 'complete-promise';
      readonly key: string;
      readonly completion: Result;
      readonly completionId: number;
    })
  | (Named & {
      readonly type: 'sleep';
      /** Ms since the epoch. */
      readonly wakeUpTime: number;
      readonly completionId: number;
    })
  | (Named & CalleeFields & { readonly type: 'call'; readonly resultCompletionId: number })
  | (Named &
      CalleeFields & {
        readonly type: 'one-way-call';
        /** Ms since the epoch; undefined = now. */
        readonly invokeTime: number | undefined;
      })
  | (Named & {
      readonly type: 'send-signal';
      readonly target: string;
      readonly signal: NotificationId;
      readonly result: NotificationResult;
    })
  | (Named & {
      readonly type: 'complete-awakeable';
      readonly awakeableId: string;
      readonly result: Result;
    })
  | (Named & {
      readonly type: 'attach-invocation' | 'get-invocation-output';
      readonly query: InvocationQuery;
      readonly completionId: number;
    });
