export { ClusterView, type ClusterViewDependencies } from './cluster-view.js';
export type { LeaveOutcome } from './departure.js';
export { requireReadableFormat } from './format-in-force.js';
export { Member, type MemberDependencies, type MemberOptions } from './member.js';
export {
  MemberPeers,
  type MemberPeersDependencies,
  type MemberPeersOptions,
} from './member-peers.js';
export type { NodeDescription } from './registration.js';
export { TableDirectory, type LeaderAddress, type LeaderAddresses } from './table-directory.js';
