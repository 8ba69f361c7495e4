export type { HandlerCommand, InvocationQuery } from './handler-command.js';
export { violation, type ProtocolFault } from './fault.js';
export {
  encodeFrame,
  encodeFrames,
  encodePieces,
  FRAME_HEADER_BYTES,
  FrameDecoder,
  isLargeFrame,
  type Frame,
  type OutgoingFrame,
} from './frames.js';
export { decodeHandlerMessage, type HandlerError, type HandlerMessage } from './handler-message.js';
export { decodeCommand } from './commands.js';
export { readEagerState, readEagerStateKeys } from './eager-reads.js';
export {
  COMMAND_CODE,
  commandTypeName,
  MESSAGE_TYPE,
  messageTypeName,
  NOTIFICATION_CODE,
  notificationTypeName,
} from './message-types.js';
export {
  commandAckFrame,
  notificationFrame,
  replayFrame,
  runCompletionAckFrame,
  startFrame,
  type StartFields,
} from './replay.js';
export {
  canResume,
  invocationContentType,
  isSupportedVersion,
  negotiateVersion,
  overlaps,
  PROTOCOL_VERSION_MAX,
  PROTOCOL_VERSION_MIN,
  PROTOCOL_VERSION_TREES,
  type VersionRange,
} from './versions.js';
export { DISCOVER_SUFFIX, encodeKeyHeader, invokeSuffix, joinPath } from './paths.js';
export { readDiscovery, type Discovery, type DiscoveryAnswer } from './discovery/discovery.js';
export { DISCOVERY_ACCEPT, MANIFEST_CONTENT_TYPES } from './discovery/manifest.js';
export { type DiscoveryRefusal } from './discovery/refusal.js';
export { type DiscoveredService } from './discovery/services.js';
export { isContentTypeRule } from './discovery/content-type.js';
