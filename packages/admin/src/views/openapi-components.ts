/** What the OpenAPI documents of all services have in common: parameters, answers and errors of the ingress. */

export const PARAMETERS = {
  delay: {
    name: 'delay',
    in: 'query',
    required: false,
    description:
      'How long the invocation waits before it starts, as a duration: ISO 8601 or with units, such as `1h 30m`.',
    schema: { type: 'string' },
    example: 'PT10S',
  },
  key: {
    name: 'key',
    in: 'path',
    required: true,
    description: 'Key of the virtual object or workflow, percent-encoded.',
    schema: { type: 'string' },
  },
  idempotencyKeyHeader: {
    name: 'idempotency-key',
    in: 'header',
    required: false,
    description: 'Requests to one handler with the same idempotency key are one invocation.',
    schema: { type: 'string' },
  },
  idempotencyKeyPath: {
    name: 'idempotencyKey',
    in: 'path',
    required: true,
    description: 'Idempotency key that the invocation was made with.',
    schema: { type: 'string' },
  },
};

export const ENGINE_ERROR = {
  type: 'object',
  title: 'EngineError',
  description: 'Why a request failed.',
  properties: {
    code: { type: 'number', description: 'Code of the error, by default the HTTP status.' },
    message: { type: 'string', description: 'What went wrong, for people.' },
    stacktrace: { type: 'string', description: 'Stack trace of the last failed attempt.' },
    metadata: {
      type: 'object',
      description: 'What the handler added to its error.',
      additionalProperties: { type: 'string' },
    },
    source: {
      type: 'string',
      enum: ['ingress', 'invocation'],
      description:
        'Who failed: `invocation` is the outcome of a handler, so trying again is no use.',
    },
  },
  required: ['message', 'source'],
  additionalProperties: false,
};

const SEND_ANSWER = {
  type: 'object',
  title: 'SendResponse',
  properties: {
    invocationId: { type: 'string' },
    executionTime: {
      type: 'string',
      format: 'date-time',
      description: 'When the invocation starts, if it is delayed.',
    },
    status: {
      type: 'string',
      enum: ['Accepted', 'PreviouslyAccepted'],
      description: '`PreviouslyAccepted`: the invocation was known before this request.',
    },
  },
  required: ['invocationId', 'status'],
};

export const RESPONSES = {
  GenericError: errorResponse('The request or its invocation failed.'),
  InvocationNotFoundError: errorResponse('There is no such invocation, or its result has expired.'),
  InvocationNotReadyError: errorResponse('The invocation exists but has not completed yet.'),
  Send: {
    description: 'The invocation is accepted.',
    content: { 'application/json': { schema: SEND_ANSWER } },
  },
};

function errorResponse(description: string): object {
  return {
    description,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/EngineError' } } },
  };
}
