/** The OpenAPI 3.1 document of the admin, out of the routes that are served and the shapes that they read and write. */

import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { Route } from '../http/routes.js';
import { CLUSTER_OPERATIONS } from './cluster-operations.js';
import { DEPLOYMENT_OPERATIONS } from './deployment-operations.js';
import { INVOCATION_OPERATIONS } from './invocation-operations.js';
import { TAGS, type Answer, type Operation, type Operations } from './operation.js';
import { SERVER_OPERATIONS } from './server-operations.js';
import { SERVICE_OPERATIONS } from './service-operations.js';
import * as shapes from './shapes.js';

type Part = Readonly<Record<string, unknown>>;

/** What every path may give: another method, and a fault of the server or of an endpoint that it asked. */
const COMMON_ERRORS = [405, 500];

const COMPONENTS: Readonly<Record<string, z.ZodType>> = {
  BatchOperation: shapes.batchShape,
  BatchOperationList: shapes.batchListShape,
  Cluster: shapes.clusterShape,
  ClusterHealth: shapes.clusterHealthShape,
  Deployment: shapes.deploymentShape,
  DeploymentList: shapes.deploymentListShape,
  ErrorDescriptionResponse: shapes.errorShape,
  HandlerMetadata: shapes.handlerShape,
  HandlerMetadataList: shapes.handlerListShape,
  PlacementOrders: shapes.ordersShape,
  QueryResult: shapes.queryShape,
  Registration: shapes.registrationShape,
  RestartedInvocation: shapes.restartShape,
  SchemaInfo: shapes.infoShape,
  ServiceMetadata: shapes.serviceShape,
  ServiceMetadataList: shapes.serviceListShape,
  Version: shapes.versionShape,
};

export const OPERATIONS: Operations = {
  ...CLUSTER_OPERATIONS,
  ...DEPLOYMENT_OPERATIONS,
  ...INVOCATION_OPERATIONS,
  ...SERVICE_OPERATIONS,
  ...SERVER_OPERATIONS,
};

/** Names and descriptions of the parameters in paths, by their names in routes. */
const PATH_PARAMETERS: Readonly<Record<string, readonly [name: string, description: string]>> = {
  batch: ['batch_operation_id', 'Id of a batch operation.'],
  deployment: ['deployment', 'Id of a deployment, `dp_…`.'],
  handler: ['handler', 'Name of a handler.'],
  invocation: ['invocation_id', 'Id of an invocation, `inv_…`.'],
  node: ['node', 'Id of a node of the cluster.'],
  partition: ['partition', 'Number of a partition, from 0.'],
  service: ['service', 'Name of a service.'],
};

/** `GET /deployments/:deployment`: how operations are named in OPERATIONS. */
export function routeName({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method.toUpperCase()} ${path}`;
}

/** `prefix`: of the version, such as `/v4`, or empty. Routes without a description are left out. */
export function adminOpenapi(routes: readonly Route[], version: string, prefix: string): Part {
  const paths: Record<string, Record<string, Part>> = {};
  for (const route of routes) {
    const operation = OPERATIONS[routeName(route)];
    if (operation === undefined) continue;
    const path = route.path.replace(/:(\w+)/g, (_match, name: string) => `{${nameOf(name)}}`);
    (paths[path] ??= {})[route.method] = operationPart(route, operation);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Engine admin API',
      description: 'Deployments, services and invocations of a durable execution server.',
      version,
    },
    servers: [{ url: prefix === '' ? '/' : prefix }],
    tags: TAGS.map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: componentSchemas() },
  };
}

function operationPart(route: Route, operation: Operation): Part {
  return {
    tags: [operation.tag],
    operationId: operation.id,
    summary: operation.summary,
    description: operation.description,
    deprecated: operation.deprecated,
    parameters: ifAny([...pathParameters(route.path), ...queryParameters(operation)]),
    requestBody:
      operation.body === undefined
        ? undefined
        : {
            required: true,
            content: { 'application/json': { schema: inputSchema(operation.body) } },
          },
    responses: responses(operation),
  };
}

function pathParameters(path: string): Part[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name: nameOf(name),
    in: 'path',
    required: true,
    description: PATH_PARAMETERS[name]?.[1],
    schema: { type: 'string' },
  }));
}

function queryParameters({ query = {} }: Operation): Part[] {
  return Object.entries(query).map(([name, { type, values, description }]) => ({
    name,
    in: 'query',
    required: false,
    description,
    schema: { type, enum: values },
  }));
}

function responses({ answers, errors }: Operation): Part {
  const given = Object.entries(answers).map(([status, answer]) => [status, answerPart(answer)]);
  const failed = [...new Set([...errors, ...COMMON_ERRORS])].map((status) => [
    String(status),
    {
      description: STATUS_CODES[status] ?? 'Error',
      content: { 'application/json': { schema: reference('ErrorDescriptionResponse') } },
    },
  ]);
  return Object.fromEntries([...given, ...failed]) as Part;
}

function answerPart({ description, shape, hasLocation }: Answer): Part {
  return {
    description,
    headers:
      hasLocation === true
        ? { location: { description: 'Where it is, relative.', schema: { type: 'string' } } }
        : undefined,
    content: shape === undefined ? undefined : { 'application/json': { schema: schemaOf(shape) } },
  };
}

function schemaOf(shape: z.ZodType | 'json'): Part {
  if (shape === 'json') return { type: 'object' };
  const [name = ''] = Object.entries(COMPONENTS).find(([, each]) => each === shape) ?? [];
  return reference(name);
}

function reference(name: string): Part {
  return { $ref: `#/components/schemas/${name}` };
}

function nameOf(parameter: string): string {
  return PATH_PARAMETERS[parameter]?.[0] ?? parameter;
}

/** As clients send it. */
function inputSchema(body: z.ZodType): Part {
  return bare(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }));
}

function componentSchemas(): Part {
  const registry = z.registry<{ id: string }>();
  for (const [id, shape] of Object.entries(COMPONENTS)) registry.add(shape, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: 'output',
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
    // Answers may get more members with time.
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, bare(schema)]));
}

/** Inside of a document a schema neither names its dialect nor has an address of its own. */
function bare(schema: object): Part {
  const members = Object.entries(schema).filter(([key]) => key !== '$schema' && key !== '$id');
  return Object.fromEntries(members);
}

function ifAny<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
