export { ROLE_PROTOCOL, type Introduction, type VersionRange } from './handshake.js';
export { RPC_MESSAGE_BYTES_MAX } from './limits.js';
export { TlsFiles, type TlsMode, type TlsOptions } from './tls-files.js';
export { channelCredentials } from './client/channel-credentials.js';
export { Dialer, type DialerOptions } from './client/dialer.js';
export { RemoteChannel, type RemoteChannelOptions } from './client/remote-channel.js';
export { RemotePeer, type RemotePeerOptions } from './client/remote-peer.js';
export { RemoteScans, type RemoteScansDependencies } from './client/remote-scans.js';
export type { LinkDependencies } from './client/stream-link.js';
export { AckReturn } from './server/ack-return.js';
export {
  RpcServer,
  type RpcServerDependencies,
  type RpcServerOptions,
} from './server/rpc-server.js';
export {
  MemoryLeaderDirectory,
  type LeaderDirectory,
  type LeaderTable,
  type WorkerAddress,
} from './routing/leader-directory.js';
export {
  PartitionRouter,
  type LocalWorker,
  type PartitionRouterDependencies,
  type PartitionRouterOptions,
} from './routing/partition-router.js';
export { RoutedPeer, type RoutedPeerDependencies } from './routing/routed-peer.js';
export { RoutedScans, type RoutedScansDependencies } from './routing/routed-scans.js';
export { WorkerLinks, type WorkerLinksOptions } from './routing/worker-links.js';
