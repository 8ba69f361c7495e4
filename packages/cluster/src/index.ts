export {
  judgeOrigin,
  judgeRecord,
  judgeStore,
  lostTail,
  settleAppend,
  type LogExtent,
  type LogOrigin,
  type LogTail,
  type OriginVerdict,
  type ReplicaPosition,
  type StorePlace,
  type StoreVerdict,
} from './leadership/chain-checks.js';
export {
  ACKNOWLEDGEMENT_SILENCE_MS_MAX,
  CLOCK_SKEW_MS_MAX,
  Leadership,
  type LeadershipOptions,
} from './leadership/leadership.js';
export {
  assignmentOf,
  type Assignment,
  type LeadershipAction,
  type LeadershipInput,
} from './leadership/leadership-io.js';
export {
  Controller,
  DEFAULT_TUNING,
  type ControllerOptions,
  type ControllerTuning,
} from './controller/controller.js';
export type {
  ControllerAction,
  ControllerInput,
  EntryRevision,
} from './controller/controller-io.js';
export { raisableFormat, readsFormat } from './controller/formats.js';
export { place } from './placement/place.js';
export type { Availability, PlacementInput, PlacementNode } from './placement/placement-input.js';
export { Rendezvous } from './placement/rendezvous.js';
