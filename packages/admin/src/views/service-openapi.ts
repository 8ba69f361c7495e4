/**
 * OpenAPI 3.1.0 document of one service: its paths at the ingress, for generators and viewers. Handlers that are private themselves
 * are left out; a private service does not hide its handlers here.
 */

import type { HandlerSchema, ServiceSchema } from '@engine/domain';
import { ifAny } from './handler-view.js';
import { PARAMETERS, RESPONSES, ENGINE_ERROR } from './openapi-components.js';
import { embedSchema } from './openapi-embedding.js';
import {
  handlerPaths,
  requestSchemaName,
  responseSchemaName,
  schemaPointer,
  TAGS,
} from './openapi-operations.js';

/** `ingressEndpoint`: where callers reach the ingress; a unix socket is not named, because OpenAPI has no form for it. */
export function serviceOpenapi(
  service: ServiceSchema,
  ingressEndpoint: string,
): Record<string, unknown> {
  const handlers = service.handlers.filter(({ ingressPrivate }) => ingressPrivate !== true);
  return {
    openapi: '3.1.0',
    info: {
      title: service.name,
      description: service.documentation,
      version: String(service.revision),
      'x-engine-extensions': ifAny(service.metadata),
    },
    servers: ingressEndpoint.startsWith('unix:')
      ? undefined
      : [{ description: 'Engine ingress URL', url: ingressEndpoint }],
    paths: Object.fromEntries(handlers.flatMap((handler) => handlerPaths(service, handler))),
    components: {
      parameters: PARAMETERS,
      responses: RESPONSES,
      schemas: {
        ...Object.fromEntries(handlers.flatMap(payloadSchemas)),
        EngineError: ENGINE_ERROR,
      },
    },
    tags: TAGS,
  };
}

/** Names cannot meet, nor one of them `EngineError`: each ends with its role. */
function payloadSchemas({ name, input, output }: HandlerSchema): [string, unknown][] {
  const given: [string, unknown][] = [
    [requestSchemaName(name), input?.contentType === undefined ? undefined : input.jsonSchema],
    [responseSchemaName(name), output?.contentType === undefined ? undefined : output.jsonSchema],
  ];
  return given
    .filter(([, schema]) => schema !== undefined)
    .map(([key, schema]) => [key, embedSchema(schema, schemaPointer(key))]);
}
