/** Notes on settings that are not in force as they were asked for (interface §2.3, SchemaInfo). */

import {
  capRetention,
  type Deployment,
  type ErrorCode,
  type HandlerOptions,
  type Retention,
  type ServiceSchema,
} from '@engine/domain';
import { PROTOCOL_VERSION_MIN } from '@engine/service-protocol';
import { durationText, type ViewOptions } from './texts.js';

export interface SchemaInfo {
  readonly code: ErrorCode;
  readonly message: string;
}

const RETENTIONS: Readonly<Record<Retention, string>> = {
  idempotencyRetentionMs: 'idempotency_retention',
  workflowCompletionRetentionMs: 'workflow_completion_retention',
  journalRetentionMs: 'journal_retention',
};

/** Notes on what a handler, or a service for its handlers, asks for itself. Defaults of the server need none. */
export function optionsInfo(
  options: HandlerOptions,
  deployment: Deployment,
  view: ViewOptions,
): SchemaInfo[] {
  return [...timeoutInfo(options, deployment, view), ...retentionInfo(options, view)];
}

/** Notes on a service and on its handlers, each once. */
export function serviceInfo(
  service: ServiceSchema,
  deployment: Deployment,
  view: ViewOptions,
): SchemaInfo[] {
  const asked = [service.options, ...service.handlers.map(({ options }) => options)];
  const notes = asked.flatMap((options) => optionsInfo(options, deployment, view));
  return [...new Map(notes.map((note) => [note.message, note])).values()];
}

/** Notes on a deployment as a whole. */
export function deploymentInfo({ maxProtocolVersion }: Deployment): SchemaInfo[] {
  if (maxProtocolVersion >= PROTOCOL_VERSION_MIN) return [];
  const message = `its newest protocol version, ${String(maxProtocolVersion)}, is no longer spoken: it gets no new invocations`;
  return [{ code: 'RT0020', message }];
}

function timeoutInfo(
  { inactivityTimeoutMs }: HandlerOptions,
  { protocolMode }: Deployment,
  { wording }: ViewOptions,
): SchemaInfo[] {
  if (inactivityTimeoutMs === undefined || protocolMode !== 'request-response') return [];
  const asked = durationText(inactivityTimeoutMs, wording);
  const message = `inactivity_timeout ${asked} has no effect: the deployment is in request-response mode`;
  return [{ code: 'RT0021', message }];
}

function retentionInfo(options: HandlerOptions, { defaults, wording }: ViewOptions): SchemaInfo[] {
  return (Object.keys(RETENTIONS) as Retention[]).flatMap((retention): SchemaInfo[] => {
    const askedMs = options[retention];
    if (askedMs === undefined) return [];
    const grantedMs = capRetention(askedMs, retention, defaults);
    if (grantedMs === askedMs) return [];
    const [asked, granted] = [askedMs, grantedMs].map((ms) => durationText(ms, wording));
    const message = `${RETENTIONS[retention]} ${asked ?? ''} is more than this server allows: ${granted ?? ''} is used`;
    return [{ code: 'RT0022', message }];
  });
}
