import type { PartitionRequest } from '@engine/domain';

/** What a request is about, for the event log. */
export function subjectOf(request: PartitionRequest): string {
  switch (request.kind) {
    case 'invoke':
      return request.invocation.id;
    case 'replace-state':
      return `${request.service}/${request.key}`;
    default:
      return request.invocationId;
  }
}
