import type {
  InvocationId,
  InvocationRequest,
  OutboxCursor,
  PartitionMessage,
} from '@engine/domain';

import { missing, required, rowCodec, type RowCodec } from '../codec.js';
import * as gen from '../gen/engine/store/v1/message.js';
import {
  sinkFromWire,
  sinkToWire,
  slotFromWire,
  slotToWire,
  sourceFromWire,
  sourceToWire,
} from './invocation.js';
import {
  notificationIdFromWire,
  notificationIdToWire,
  notificationResultFromWire,
  notificationResultToWire,
} from './notification.js';
import { pairsToWire } from './result.js';
import { targetFromWire, targetToWire } from './target.js';

/** An invocation request without the parts that the partition fills in for an ingress. */
export type BareInvocationRequest = Omit<InvocationRequest, 'source' | 'sink'>;

export function bareRequestToWire(request: BareInvocationRequest): gen.InvocationRequest {
  return {
    id: request.id,
    target: targetToWire(request.target),
    source: undefined,
    headers: pairsToWire(request.headers),
    payload: request.payload,
    idempotencyKey: request.idempotencyKey,
    executionTime: request.executionTime,
    completionRetentionMs: request.completionRetentionMs,
    journalRetentionMs: request.journalRetentionMs,
    sink: undefined,
  };
}

export function bareRequestFromWire(message: gen.InvocationRequest): BareInvocationRequest {
  return {
    id: message.id as InvocationId,
    target: targetFromWire(message.target),
    headers: message.headers,
    payload: message.payload,
    idempotencyKey: message.idempotencyKey,
    executionTime: message.executionTime,
    completionRetentionMs: message.completionRetentionMs,
    journalRetentionMs: message.journalRetentionMs,
  };
}

function requestToWire(request: InvocationRequest): gen.InvocationRequest {
  const message = bareRequestToWire(request);
  message.source = sourceToWire(request.source);
  message.sink = request.sink === undefined ? undefined : sinkToWire(request.sink);
  return message;
}

function requestFromWire(message: gen.InvocationRequest): InvocationRequest {
  return {
    id: message.id as InvocationId,
    target: targetFromWire(message.target),
    source: sourceFromWire(message.source),
    headers: message.headers,
    payload: message.payload,
    idempotencyKey: message.idempotencyKey,
    executionTime: message.executionTime,
    completionRetentionMs: message.completionRetentionMs,
    journalRetentionMs: message.journalRetentionMs,
    sink: message.sink === undefined ? undefined : sinkFromWire(message.sink),
  };
}

export function messageToWire(row: PartitionMessage): gen.PartitionMessage {
  switch (row.kind) {
    case 'invoke':
      return { message: { $case: 'invoke', value: requestToWire(row.request) } };
    case 'respond': {
      const value = { slot: slotToWire(row.slot), result: notificationResultToWire(row.result) };
      return { message: { $case: 'respond', value } };
    }
    case 'signal': {
      const value = {
        invocationId: row.invocationId,
        id: notificationIdToWire(row.id),
        result: notificationResultToWire(row.result),
      };
      return { message: { $case: 'signal', value } };
    }
    case 'attach': {
      const { invocationId, blocking } = row;
      const value = { invocationId, blocking, slot: slotToWire(row.slot) };
      return { message: { $case: 'attach', value } };
    }
    case 'kill':
      return { message: { $case: 'kill', value: { invocationId: row.invocationId } } };
  }
}

export function messageFromWire({ message }: gen.PartitionMessage): PartitionMessage {
  switch (message?.$case) {
    case 'invoke':
      return { kind: 'invoke', request: requestFromWire(message.value) };
    case 'respond':
      return {
        kind: 'respond',
        slot: slotFromWire(message.value.slot),
        result: notificationResultFromWire(message.value.result),
      };
    case 'signal':
      return {
        kind: 'signal',
        invocationId: message.value.invocationId as InvocationId,
        id: notificationIdFromWire(message.value.id),
        result: notificationResultFromWire(message.value.result),
      };
    case 'attach':
      return {
        kind: 'attach',
        invocationId: message.value.invocationId as InvocationId,
        blocking: message.value.blocking,
        slot: slotFromWire(required(message.value.slot, 'slot')),
      };
    case 'kill':
      return { kind: 'kill', invocationId: message.value.invocationId as InvocationId };
    case undefined:
      return missing('partition message');
  }
}

export const outboxRow: RowCodec<PartitionMessage> = rowCodec('outbox', gen.PartitionMessage, {
  toWire: messageToWire,
  fromWire: messageFromWire,
});

export const outboxCursorRow: RowCodec<OutboxCursor> = rowCodec('outbox-cursor', gen.OutboxCursor, {
  toWire: (row: OutboxCursor): gen.OutboxCursor => row,
  fromWire: (message): OutboxCursor => message,
});

export const inboundRow: RowCodec<number> = rowCodec('inbound', gen.InboundCursor, {
  toWire: (applied: number): gen.InboundCursor => ({ applied }),
  fromWire: (message) => message.applied,
});
