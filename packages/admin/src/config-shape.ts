/** Settings of the admin, checked and complete. The server's configuration (section `[admin]`) fills them in. */

import { DEFAULT_RETRY_POLICY, type HandlerDefaults } from '@engine/domain';

export interface AdminConfig {
  /** Address to listen on. `::` takes IPv4 too and falls back to `0.0.0.0` on machines without IPv6. */
  readonly bindIp: string;
  /** 0 = any free port. */
  readonly bindPort: number;
  /** Where callers reach the ingress, with a slash at the end. */
  readonly ingressEndpoint: string;
  readonly clusterName: string;
  /** Requests in work at a time; more get 429. Undefined = no limit. */
  readonly concurrentRequestsMax: number | undefined;
  /** Headers, in lower case, that tell deployments with one address apart: another value means another deployment. */
  readonly deploymentRoutingHeaders: readonly string[];
  /** Switches that clients look at, by name. */
  readonly features: Readonly<Record<string, boolean>>;
  /** What handlers get that settle nothing themselves; shown with services. */
  readonly handlerDefaults: HandlerDefaults;
}

const DAY_MS = 86_400_000;

export const DEFAULT_ADMIN_CONFIG: AdminConfig = {
  bindIp: '::',
  bindPort: 9070,
  ingressEndpoint: 'http://127.0.0.1:8080/',
  clusterName: 'engine',
  concurrentRequestsMax: undefined,
  deploymentRoutingHeaders: [],
  features: {
    vqueues: false,
    protocol_v7: true,
  },
  handlerDefaults: {
    inactivityTimeoutMs: 60_000,
    abortTimeoutMs: 600_000,
    journalRetentionMs: DAY_MS,
    idempotencyRetentionMs: DAY_MS,
    workflowCompletionRetentionMs: DAY_MS,
    retryPolicy: DEFAULT_RETRY_POLICY,
  },
};
