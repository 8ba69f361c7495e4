/** Tables `sys_deployment` and `sys_service`: what is registered. */

import type { Deployment, DeploymentEndpoint, SchemaLookup, ServiceType } from '@engine/domain';
import { defineColumns, type Row, type TableDefinition } from '../table.js';

export const SYS_DEPLOYMENT: TableDefinition = {
  name: 'sys_deployment',
  keyColumns: [],
  columns: defineColumns(
    ['id', 'text'],
    ['ty', 'text'],
    ['endpoint', 'text'],
    ['created_at', 'timestamp'],
    ['min_service_protocol_version', 'u32'],
    ['max_service_protocol_version', 'u32'],
    ['services', 'text-list'],
  ),
};

export const SYS_SERVICE: TableDefinition = {
  name: 'sys_service',
  keyColumns: [],
  columns: defineColumns(
    ['name', 'text'],
    ['revision', 'u64'],
    ['public', 'boolean'],
    ['ty', 'text'],
    ['deployment_id', 'text'],
  ),
};

export function deploymentRow(deployment: Deployment): Row {
  return [
    deployment.id,
    deployment.endpoint.kind,
    addressOf(deployment.endpoint),
    deployment.createdAt,
    deployment.minProtocolVersion,
    deployment.maxProtocolVersion,
    deployment.services.map((service) => service.name),
  ];
}

/** URI or ARN. */
function addressOf(endpoint: DeploymentEndpoint): string {
  return endpoint.kind === 'http' ? endpoint.uri : endpoint.arn;
}

const SERVICE_TYPES: Readonly<Record<ServiceType, string>> = {
  service: 'service',
  'virtual-object': 'virtual_object',
  workflow: 'workflow',
};

/** One row per service: its newest revision. */
export function serviceRows(lookup: SchemaLookup): Row[] {
  return Array.from(lookup.services(), ({ service, deployment }) => [
    service.name,
    service.revision,
    !service.ingressPrivate,
    SERVICE_TYPES[service.type],
    deployment.id,
  ]);
}
