/** The `deployment` of resume and restart-as-new, in query strings and bodies. */

import { EngineError, parseDeploymentId, type DeploymentChoice } from '@engine/domain';
import type { Request } from 'express';
import { queryText } from './request.js';

/** `keep`, `latest` (also with a capital) or a deployment id. Errors: `bad-request`. */
export function parseDeploymentChoice(text: string): DeploymentChoice {
  if (text === 'keep' || text === 'Keep') return { kind: 'keep' };
  if (text === 'latest' || text === 'Latest') return { kind: 'latest' };
  const parsed = parseDeploymentId(text);
  if (parsed.kind === 'ok') return { kind: 'fixed', deploymentId: parsed.id };
  throw new EngineError(
    'bad-request',
    `bad deployment '${text}': ${parsed.reason}; expected latest, keep or a deployment id`,
  );
}

/** Errors: `bad-request`. */
export function queryDeploymentChoice(
  request: Request,
  otherwise: DeploymentChoice['kind'] & ('keep' | 'latest'),
): DeploymentChoice {
  const text = queryText(request, 'deployment');
  return text === undefined ? { kind: otherwise } : parseDeploymentChoice(text);
}
