import {
  limits,
  type AwaitCombinator,
  type AwaitTree,
  type NotificationId,
  type NotificationIndexEntry,
  type NotificationResult,
  type NotificationType,
} from '@engine/domain';

import { enumCodec, missing, rowCodec, type RowCodec } from '../codec.js';
import * as gen from '../gen/engine/store/v1/notification.js';
import { failureFromWire, failureToWire } from './result.js';

const T = gen.NotificationType;
const C = gen.AwaitCombinator;

export const notificationTypes = enumCodec<NotificationType, gen.NotificationType>(
  'notification type',
  {
    'get-lazy-state': T.NOTIFICATION_TYPE_GET_LAZY_STATE,
    'get-lazy-state-keys': T.NOTIFICATION_TYPE_GET_LAZY_STATE_KEYS,
    'get-promise': T.NOTIFICATION_TYPE_GET_PROMISE,
    'peek-promise': T.NOTIFICATION_TYPE_PEEK_PROMISE,
    'complete-promise': T.NOTIFICATION_TYPE_COMPLETE_PROMISE,
    sleep: T.NOTIFICATION_TYPE_SLEEP,
    'call-invocation-id': T.NOTIFICATION_TYPE_CALL_INVOCATION_ID,
    call: T.NOTIFICATION_TYPE_CALL,
    run: T.NOTIFICATION_TYPE_RUN,
    'attach-invocation': T.NOTIFICATION_TYPE_ATTACH_INVOCATION,
    'get-invocation-output': T.NOTIFICATION_TYPE_GET_INVOCATION_OUTPUT,
    signal: T.NOTIFICATION_TYPE_SIGNAL,
  },
);

const combinators = enumCodec<AwaitCombinator, gen.AwaitCombinator>('await combinator', {
  unknown: C.AWAIT_COMBINATOR_UNKNOWN,
  'first-completed': C.AWAIT_COMBINATOR_FIRST_COMPLETED,
  'all-completed': C.AWAIT_COMBINATOR_ALL_COMPLETED,
  'first-succeeded-or-all-failed': C.AWAIT_COMBINATOR_FIRST_SUCCEEDED_OR_ALL_FAILED,
  'all-succeeded-or-first-failed': C.AWAIT_COMBINATOR_ALL_SUCCEEDED_OR_FIRST_FAILED,
});

export function notificationIdToWire(id: NotificationId): gen.NotificationId {
  switch (id.kind) {
    case 'completion':
      return { id: { $case: 'completion', value: id.id } };
    case 'signal':
      return { id: { $case: 'signal', value: id.index } };
    case 'named-signal':
      return { id: { $case: 'namedSignal', value: id.name } };
  }
}

export function notificationIdFromWire(message: gen.NotificationId | undefined): NotificationId {
  const id = message?.id;
  switch (id?.$case) {
    case 'completion':
      return { kind: 'completion', id: id.value };
    case 'signal':
      return { kind: 'signal', index: id.value };
    case 'namedSignal':
      return { kind: 'named-signal', name: id.value };
    case undefined:
      return missing('notification id');
  }
}

export function notificationResultToWire(result: NotificationResult): gen.NotificationResult {
  switch (result.kind) {
    case 'void':
      return { result: { $case: 'void', value: {} } };
    case 'value':
      return { result: { $case: 'value', value: result.value } };
    case 'failure':
      return { result: { $case: 'failure', value: failureToWire(result.failure) } };
    case 'invocation-id':
      return { result: { $case: 'invocationId', value: result.id } };
    case 'state-keys':
      return { result: { $case: 'stateKeys', value: { keys: result.keys as string[] } } };
  }
}

export function notificationResultFromWire(
  message: gen.NotificationResult | undefined,
): NotificationResult {
  const result = message?.result;
  switch (result?.$case) {
    case 'void':
      return { kind: 'void' };
    case 'value':
      return { kind: 'value', value: result.value };
    case 'failure':
      return { kind: 'failure', failure: failureFromWire(result.value) };
    case 'invocationId':
      return { kind: 'invocation-id', id: result.value };
    case 'stateKeys':
      return { kind: 'state-keys', keys: result.value.keys };
    case undefined:
      return missing('notification result');
  }
}

/** Preorder: a group is followed by its children. */
export function awaitTreeToWire(tree: AwaitTree): gen.AwaitTree {
  const nodes: gen.AwaitNode[] = [];
  pushNode(tree, nodes);
  return { nodes };
}

function pushNode(tree: AwaitTree, nodes: gen.AwaitNode[]): void {
  if (tree.kind === 'single') {
    const combinator = C.AWAIT_COMBINATOR_UNSPECIFIED;
    nodes.push({ single: notificationIdToWire(tree.id), combinator, childCount: 0 });
    return;
  }
  const childCount = tree.children.length;
  nodes.push({ single: undefined, combinator: combinators.toWire[tree.kind], childCount });
  for (const child of tree.children) pushNode(child, nodes);
}

export function awaitTreeFromWire(message: gen.AwaitTree): AwaitTree {
  const cursor = { next: 0 };
  const tree = readNode(message.nodes, cursor, 0);
  if (cursor.next !== message.nodes.length) missing('parent of an await node');
  return tree;
}

function readNode(
  nodes: readonly gen.AwaitNode[],
  cursor: { next: number },
  levels: number,
): AwaitTree {
  const node = nodes[cursor.next++];
  if (node === undefined) return missing('await node');
  if (node.single !== undefined) {
    return { kind: 'single', id: notificationIdFromWire(node.single) };
  }
  if (levels >= limits.AWAIT_DEPTH_MAX) return missing('end of a deep await tree');
  const children: AwaitTree[] = [];
  for (let i = 0; i < node.childCount; i++) children.push(readNode(nodes, cursor, levels + 1));
  return { kind: combinators.fromWire(node.combinator), children };
}

export const notificationIndexRow: RowCodec<NotificationIndexEntry> = rowCodec(
  'notification',
  gen.NotificationIndexEntry,
  {
    toWire: (row: NotificationIndexEntry): gen.NotificationIndexEntry => row,
    fromWire: (message): NotificationIndexEntry => message,
  },
);
