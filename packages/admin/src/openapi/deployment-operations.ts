import { registrationBody, updateBody } from '../http/deployment-bodies.js';
import type { Operation, Operations } from './operation.js';
import { deploymentListShape, deploymentShape, registrationShape } from './shapes.js';

const update: Omit<Operation, 'id' | 'summary'> = {
  tag: 'deployment',
  description:
    'For the same code at another address, or with a repair that running invocations must pick up. The endpoint is asked ' +
    'again, and has to be similar to what is registered (META0016). New code belongs into a new deployment.',
  body: updateBody,
  answers: { 200: { description: 'As it is now.', shape: deploymentShape } },
  errors: [400, 404, 409, 415, 422],
};

export const DEPLOYMENT_OPERATIONS: Operations = {
  'GET /deployments': {
    tag: 'deployment',
    id: 'list_deployments',
    summary: 'List deployments',
    answers: { 200: { description: 'All deployments.', shape: deploymentListShape } },
    errors: [],
  },
  'POST /deployments': {
    tag: 'deployment',
    id: 'create_deployment',
    summary: 'Register a deployment',
    description:
      'Asks the endpoint what it serves, and makes its services the newest revisions. A destination that is registered ' +
      'already is refused (META0004) unless `force` is true; under a version prefix older clients find what they know.',
    body: registrationBody,
    answers: {
      200: {
        description: 'A known deployment, replaced or as it was.',
        shape: registrationShape,
        hasLocation: true,
      },
      201: { description: 'A new deployment.', shape: registrationShape, hasLocation: true },
    },
    errors: [400, 409, 415, 422],
  },
  'GET /deployments/:deployment': {
    tag: 'deployment',
    id: 'get_deployment',
    summary: 'Get a deployment',
    answers: {
      200: { description: 'The deployment with its services.', shape: deploymentShape },
    },
    errors: [400, 404],
  },
  'PATCH /deployments/:deployment': {
    ...update,
    id: 'update_deployment',
    summary: 'Update a deployment in place',
  },
  'PUT /deployments/:deployment': {
    ...update,
    id: 'replace_deployment',
    summary: 'Update a deployment in place (the same as PATCH)',
  },
  'DELETE /deployments/:deployment': {
    tag: 'deployment',
    id: 'delete_deployment',
    summary: 'Remove a deployment',
    description:
      'Its services fall back to the newest revision that another deployment serves. Without `force` it is refused while ' +
      'an invocation has to go on there; under a version prefix it needs `force`.',
    query: {
      force: { type: 'boolean', description: 'Remove it even if invocations have to go on there.' },
    },
    answers: { 202: { description: 'Removed.' } },
    errors: [400, 404, 409, 501],
  },
};
