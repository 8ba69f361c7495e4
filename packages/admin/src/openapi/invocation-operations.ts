import { batchOperationBody } from '../http/batch-operation-bodies.js';
import type { Operation, Operations, QueryParameter } from './operation.js';
import { batchListShape, batchShape, restartShape } from './shapes.js';

const DONE = { description: 'Done.' };
const WILL_BE_DONE = { description: 'Accepted; it takes effect in a moment.' };
const ERRORS = [400, 404, 409, 503] as const;

const deployment = (standard: string): QueryParameter => ({
  type: 'string',
  description: `Where it goes on: \`keep\`, \`latest\` or the id of a deployment. ${standard}`,
});

const operation = (id: string, more: Omit<Operation, 'tag' | 'id'>): Operation => ({
  tag: 'invocation',
  id,
  ...more,
});

export const INVOCATION_OPERATIONS: Operations = {
  'PATCH /invocations/:invocation/cancel': operation('cancel_invocation', {
    summary: 'Cancel an invocation',
    description: 'The handler sees it as an error at its next await, and may undo what it did.',
    answers: { 200: DONE, 202: WILL_BE_DONE },
    errors: ERRORS,
  }),
  'PATCH /invocations/:invocation/kill': operation('kill_invocation', {
    summary: 'Kill an invocation',
    description: 'It ends at once, together with everything that it has called. Nothing is undone.',
    answers: { 200: DONE },
    errors: ERRORS,
  }),
  'PATCH /invocations/:invocation/pause': operation('pause_invocation', {
    summary: 'Pause an invocation',
    answers: { 200: { description: 'It does not run.' }, 202: WILL_BE_DONE },
    errors: ERRORS,
  }),
  'PATCH /invocations/:invocation/resume': operation('resume_invocation', {
    summary: 'Resume an invocation',
    description: 'Starts an attempt now, of what is paused, suspended or waits for its next try.',
    query: { deployment: deployment('Else `keep`.') },
    answers: { 200: DONE },
    errors: [...ERRORS, 425],
  }),
  'PATCH /invocations/:invocation/restart-as-new': operation('restart_as_new_invocation', {
    summary: 'Restart a completed invocation as a new one',
    query: {
      from: {
        type: 'integer',
        description: 'Index of the last journal entry that is taken over. Else 0, the input alone.',
      },
      deployment: deployment('Else `latest`.'),
    },
    answers: { 200: { description: 'The new invocation.', shape: restartShape } },
    errors: [...ERRORS, 410, 422, 425],
  }),
  'PATCH /invocations/:invocation/purge': operation('purge_invocation', {
    summary: 'Forget a completed invocation',
    answers: { 200: DONE },
    errors: ERRORS,
  }),
  'PATCH /invocations/:invocation/purge-journal': operation('purge_journal', {
    summary: 'Forget the journal of a completed invocation',
    answers: { 200: DONE },
    errors: ERRORS,
  }),
  'DELETE /invocations/:invocation': operation('delete_invocation', {
    summary: 'Cancel, kill or purge an invocation',
    description: 'Does not say what came of it. Use the operations under PATCH.',
    deprecated: true,
    query: {
      mode: {
        type: 'string',
        values: ['cancel', 'kill', 'purge'],
        description: 'What is done. Else `cancel`.',
      },
    },
    answers: { 202: WILL_BE_DONE },
    errors: [400, 503],
  }),
  'GET /batch-operations': operation('list_batch_operations', {
    summary: 'List operations on many invocations',
    query: {
      limit: { type: 'integer', description: 'How many at most.' },
      cursor: { type: 'string', description: '`next_cursor` of the page before.' },
    },
    answers: { 200: { description: 'Newest first.', shape: batchListShape } },
    errors: [400],
  }),
  'POST /batch-operations': operation('create_batch_operation', {
    summary: 'Begin an operation on many invocations',
    description: 'The server works on it in the background, across restarts.',
    body: batchOperationBody,
    answers: {
      202: { description: 'It has begun.', shape: batchShape, hasLocation: true },
    },
    errors: [400, 413, 415, 422, 429, 503],
  }),
  'GET /batch-operations/:batch': operation('get_batch_operation', {
    summary: 'Get an operation on many invocations',
    answers: { 200: { description: 'How far it is.', shape: batchShape } },
    errors: [404],
  }),
  'PATCH /batch-operations/:batch/abort': operation('abort_batch_operation', {
    summary: 'Abort an operation on many invocations',
    description: 'What it has done so far is not undone.',
    answers: {
      200: { description: 'It was aborted before.', shape: batchShape },
      202: { description: 'It will stop in a moment.', shape: batchShape },
    },
    errors: [404, 409, 503],
  }),
};
