/** The methods of the services of a worker. */

import {
  NodeServiceDefinition as Node,
  WorkerServiceDefinition as Service,
  type nodeWire,
  type wire,
} from '@engine/wire';

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

const { reports, stopLeading, applied, reachSchema } = Node.methods;

export const REPORTS: RpcMethod<nodeWire.ReportsRequest, nodeWire.ReportsResponse> = rpcMethod(
  Node,
  reports,
);
export const STOP_LEADING: RpcMethod<nodeWire.StopLeadingRequest, nodeWire.StopLeadingResponse> =
  rpcMethod(Node, stopLeading);
export const APPLIED: RpcMethod<nodeWire.AppliedRequest, nodeWire.AppliedResponse> = rpcMethod(
  Node,
  applied,
);
export const REACH_SCHEMA: RpcMethod<nodeWire.ReachSchemaRequest, nodeWire.ReachSchemaResponse> =
  rpcMethod(Node, reachSchema);
