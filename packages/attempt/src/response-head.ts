/** Judges the head of a response: only a 2xx with exactly the content type of the request lets its body count. */
import type { AttemptFailure } from '@engine/domain';
import { invocationContentType } from '@engine/service-protocol';
import type { AttemptInput } from './attempt-io.js';
import { serverFailure } from './failures.js';
import { readRetryAfter } from './retry-after.js';

type ResponseHead = Extract<AttemptInput, { kind: 'response-head' }>;

export interface HeadFault {
  readonly failure: AttemptFailure;
  readonly retryDelayMs: number | undefined;
}

/** What is wrong with the head, or undefined. */
export function judgeHead(head: ResponseHead, protocolVersion: number): HeadFault | undefined {
  const { status } = head;
  if (status < 200 || status > 299) return judgeStatus(head);
  const expected = invocationContentType(protocolVersion);
  if (head.contentType === expected) return undefined;
  const shown = head.contentType === undefined ? 'no content type' : `'${head.contentType}'`;
  return fault(serverFailure('RT0012', `the response has ${shown} instead of '${expected}'`));
}

function judgeStatus(head: ResponseHead): HeadFault {
  const { status } = head;
  const answered = `the endpoint answered with status ${status.toString()}`;
  switch (status) {
    case 401:
      return fault(
        serverFailure('RT0012', `${answered}: it does not accept who this server says it is`),
      );
    case 415:
      return fault(
        serverFailure('RT0015', `${answered}: it no longer speaks the negotiated version`),
      );
    case 413:
      return fault(serverFailure('RT0019', `${answered}: the journal is too large for it`));
    case 429:
    case 503:
      return {
        failure: serverFailure('RT0023', `${answered}: it asks for a slower pace`),
        retryDelayMs: readRetryAfter(head.retryAfter, head.now),
      };
    case 502:
    case 504:
      return fault(serverFailure('RT0010', `${answered}: it cannot be reached for now`));
    default:
      return fault(serverFailure('RT0012', `${answered}, which is unexpected`));
  }
}

function fault(failure: AttemptFailure): HeadFault {
  return { failure, retryDelayMs: undefined };
}
