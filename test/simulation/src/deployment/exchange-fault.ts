/** What goes wrong in one connection to a deployment. */

import type { Chance } from '../simulator/chance.js';

/** Weights of the faults of a connection; `none` is what is left to 1. */
export interface DeploymentFaults {
  /** Connections that cannot be made. */
  refused: number;
  /** Answers with a status instead of a stream. */
  status: number;
  /** Answers of a wrong content type. */
  contentType: number;
  /** Connections that break at some byte. */
  cut: number;
  /** Responses that end before their time. */
  eof: number;
  /** Handlers that fall silent. */
  hang: number;
  /** Handlers that report an error after some frame. */
  errorFrame: number;
  /** Handlers that send a frame that nobody knows. */
  garbage: number;
  /** Responses that stay open after the handler's last word. */
  openEnd: number;
  /** Typical time of a piece of user code, ms. */
  workMs: number;
  /** Typical and longest way of a chunk, ms. */
  delayMs: number;
  delayMsMax: number;
}

export type ExchangeFault =
  | { readonly kind: 'none' | 'refused' | 'contentType' | 'openEnd' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter: string | undefined }
  | {
      readonly kind: 'cut' | 'eof' | 'hang' | 'errorFrame' | 'garbage';
      /** Frames of the handler that still pass. */
      readonly afterFrames: number;
    };

type FaultName = Exclude<ExchangeFault['kind'], 'none'>;

const STATUSES = [404, 413, 415, 429, 500, 502, 503, 504] as const;
const FRAMES_MAX = 6;

export function drawFault(chance: Chance, faults: DeploymentFaults): ExchangeFault {
  const { refused, status, contentType, cut, eof, hang, errorFrame, garbage, openEnd } = faults;
  const weights: Record<FaultName, number> = {
    refused,
    status,
    contentType,
    cut,
    eof,
    hang,
    errorFrame,
    garbage,
    openEnd,
  };
  const sum = Object.values(weights).reduce((total, weight) => total + weight, 0);
  const kind = chance.weighted<ExchangeFault['kind']>({ ...weights, none: Math.max(0, 1 - sum) });
  const afterFrames = chance.between(0, FRAMES_MAX);
  const code = chance.pick(STATUSES);
  const retryAfter = chance.pick([undefined, '0', '1', 'soon']);
  switch (kind) {
    case 'none':
    case 'refused':
    case 'contentType':
    case 'openEnd':
      return { kind };
    case 'status':
      return { kind, status: code, retryAfter };
    case 'cut':
    case 'eof':
    case 'hang':
    case 'errorFrame':
    case 'garbage':
      return { kind, afterFrames };
  }
}
