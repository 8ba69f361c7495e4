/** The methods of the worker's service. */

import { WorkerServiceDefinition as Service, type wire } from '@engine/wire';

import { rpcMethod, type RpcMethod } from './method.js';

const { exchange, deliver, scan, scanJournal, scanState } = Service.methods;

export const EXCHANGE: RpcMethod<wire.PartitionRequests, wire.PartitionAnswers> = rpcMethod(
  Service,
  exchange,
);
export const DELIVER: RpcMethod<wire.MessageBatches, wire.MessageAcks> = rpcMethod(
  Service,
  deliver,
);
export const SCAN: RpcMethod<wire.ScanRequest, wire.ScanResponse> = rpcMethod(Service, scan);
export const SCAN_JOURNAL: RpcMethod<wire.ScanJournalRequest, wire.ScanJournalResponse> = rpcMethod(
  Service,
  scanJournal,
);
export const SCAN_STATE: RpcMethod<wire.ScanStateRequest, wire.ScanStateResponse> = rpcMethod(
  Service,
  scanState,
);
