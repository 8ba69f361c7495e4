import { modificationBody, stateBody } from '../http/service-bodies.js';
import type { Operations } from './operation.js';
import { handlerListShape, handlerShape, serviceListShape, serviceShape } from './shapes.js';

export const SERVICE_OPERATIONS: Operations = {
  'GET /services': {
    tag: 'service',
    id: 'list_services',
    summary: 'List services',
    answers: {
      200: { description: 'The newest revision of each service.', shape: serviceListShape },
    },
    errors: [],
  },
  'GET /services/:service': {
    tag: 'service',
    id: 'get_service',
    summary: 'Get a service',
    answers: { 200: { description: 'Its newest revision.', shape: serviceShape } },
    errors: [400, 404],
  },
  'PATCH /services/:service': {
    tag: 'service',
    id: 'modify_service',
    summary: 'Change settings of a service',
    description:
      'For the newest revision, until the service is registered again. What a handler settles for itself stays in force. ' +
      'Members that are null or missing change nothing.',
    body: modificationBody,
    answers: { 200: { description: 'As it is now.', shape: serviceShape } },
    errors: [400, 404, 415, 422],
  },
  'GET /services/:service/openapi': {
    tag: 'service',
    id: 'get_service_openapi',
    summary: 'Get the OpenAPI document of a service',
    answers: { 200: { description: 'OpenAPI 3.1, for the ingress.', shape: 'json' } },
    errors: [400, 404],
  },
  'POST /services/:service/state': {
    tag: 'service',
    id: 'modify_service_state',
    summary: 'Replace the state of an object or a workflow',
    description:
      'In its turn among the exclusive handlers of the key: it waits for one that runs. With a `version` that is not the ' +
      'version of the state by then, nothing changes.',
    body: stateBody,
    answers: { 202: { description: 'Accepted; it takes effect when its turn comes.' } },
    errors: [400, 404, 413, 415, 422, 429, 503],
  },
  'GET /services/:service/handlers': {
    tag: 'service_handler',
    id: 'list_service_handlers',
    summary: 'List the handlers of a service',
    answers: { 200: { description: 'All handlers.', shape: handlerListShape } },
    errors: [400, 404],
  },
  'GET /services/:service/handlers/:handler': {
    tag: 'service_handler',
    id: 'get_service_handler',
    summary: 'Get a handler of a service',
    answers: { 200: { description: 'The handler.', shape: handlerShape } },
    errors: [400, 404, 409],
  },
};
