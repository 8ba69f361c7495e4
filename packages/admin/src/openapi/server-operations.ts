import { queryBody } from '../http/query.js';
import type { Operations } from './operation.js';
import { clusterHealthShape, queryShape, versionShape } from './shapes.js';

export const SERVER_OPERATIONS: Operations = {
  'GET /cluster-health': {
    tag: 'cluster_health',
    id: 'cluster_health',
    summary: 'Health of the cluster',
    deprecated: true,
    answers: { 200: { description: 'It takes work.', shape: clusterHealthShape } },
    errors: [503],
  },
  'GET /health': {
    tag: 'health',
    id: 'health',
    summary: 'Health of this server',
    answers: { 200: { description: 'It takes work.' } },
    errors: [503],
  },
  'GET /version': {
    tag: 'version',
    id: 'version',
    summary: 'Versions, features and addresses of this server',
    answers: { 200: { description: 'What clients need to know first.', shape: versionShape } },
    errors: [],
  },
  'POST /query': {
    tag: 'introspection',
    id: 'query',
    summary: 'Ask with SQL',
    body: queryBody,
    answers: { 200: { description: 'The rows.', shape: queryShape } },
    errors: [400, 415, 422, 429, 503],
  },
};
