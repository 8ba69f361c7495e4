export { ROLE_PROTOCOL, type Introduction, type VersionRange } from './handshake.js';
export { RPC_MESSAGE_BYTES_MAX } from './limits.js';
export { TlsFiles, type TlsMode, type TlsOptions } from './tls-files.js';
export { channelCredentials } from './client/channel-credentials.js';
export { Dialer, type DialerOptions } from './client/dialer.js';
export { RemoteChannel, type RemoteChannelOptions } from './client/remote-channel.js';
export { RemoteNode } from './client/remote-node.js';
export { RemotePeer, type RemotePeerOptions } from './client/remote-peer.js';
export { RemoteScans } from './client/remote-scans.js';
export type { LinkDependencies } from './client/stream-link.js';
export type { UnaryDependencies } from './client/unary-caller.js';
export { AckReturn } from './server/ack-return.js';
export {
  RpcServer,
  type RpcServerDependencies,
  type RpcServerOptions,
  type WorkerServices,
} from './server/rpc-server.js';
export {
  MemoryLeaderDirectory,
  type LeaderDirectory,
  type LeaderTable,
  type WorkerAddress,
} from './routing/leader-directory.js';
export { NodeLinks } from './routing/node-links.js';
export {
  PartitionRouter,
  type ChannelLinks,
  type LocalWorker,
  type PartitionRouterDependencies,
  type PartitionRouterOptions,
} from './routing/partition-router.js';
export { RoutedPeer, type PeerLinks, type RoutedPeerDependencies } from './routing/routed-peer.js';
export { RoutedScans, type RoutedScansDependencies } from './routing/routed-scans.js';
export { awaitTable } from './routing/table-readiness.js';
export { WorkerLinks, type WorkerLinksOptions } from './routing/worker-links.js';
