import { describe, expect, it } from '@jest/globals';
import {
  deploymentIdFromUlid,
  EMPTY_SCHEMA,
  type EngineError,
  type Schema,
  type ServiceType,
} from '@engine/domain';
import { INTERFACE } from '../dialect.js';
import type { Destination, DiscoveredEndpoint } from '../discovery/discover.js';
import { register, type RegistrationRequest } from './registration.js';
import { withoutDeployment } from './schema-change.js';

const id = (n: number): ReturnType<typeof deploymentIdFromUlid> =>
  deploymentIdFromUlid(new Uint8Array(16).fill(n));

function endpoint(
  destination: Destination,
  services: Readonly<Record<string, ServiceType>>,
): DiscoveredEndpoint {
  return {
    endpoint:
      destination.kind === 'http'
        ? { ...destination, httpVersion: 'HTTP/2.0' }
        : { ...destination, compression: undefined },
    discovery: {
      kind: 'discovered',
      protocolMode: 'bidi-stream',
      minProtocolVersion: 5,
      maxProtocolVersion: 7,
      sdkVersion: undefined,
      functionCompression: undefined,
      services: Object.entries(services).map(([name, type]) => ({
        name,
        type,
        handlers: [],
        ingressPrivate: false,
        documentation: undefined,
        metadata: {},
        options: {},
      })),
    },
  };
}

type Changes = Partial<RegistrationRequest> & { readonly uri?: string };

function registered(
  schema: Schema,
  n: number,
  services: Readonly<Record<string, ServiceType>>,
  { uri = `http://host:${String(n)}/`, ...more }: Changes = {},
): Schema {
  const request: RegistrationRequest = {
    destination: { kind: 'http', uri, useHttp11: false },
    additionalHeaders: {},
    metadata: {},
    force: false,
    breaking: false,
    ...more,
  };
  const fresh = { id: id(n), now: n };
  const rules = { dialect: INTERFACE, routingHeaders: ['x-tenant'] };
  return register(schema, request, {
    endpoint: endpoint(request.destination, services),
    rules,
    fresh,
  }).schema;
}

const revisions = (schema: Schema): unknown =>
  schema.deployments.map((each) => [
    each.id,
    ...each.services.map((s) => `${s.name}${String(s.revision)}`),
  ]);

const codeOf = (fn: () => unknown): string => {
  try {
    fn();
    return 'none';
  } catch (error) {
    return (error as EngineError).code;
  }
};

describe('registration', () => {
  it('counts the revisions of each service by itself and leaves other deployments alone', () => {
    let schema = registered(EMPTY_SCHEMA, 1, { A: 'service', B: 'workflow' });
    schema = registered(schema, 2, { A: 'service' });
    schema = registered(schema, 3, { A: 'service', C: 'service' });
    expect(revisions(schema)).toEqual([
      [id(1), 'A1', 'B1'],
      [id(2), 'A2'],
      [id(3), 'A3', 'C1'],
    ]);
  });

  it('with force keeps the id and raises revisions above all others', () => {
    let schema = registered(EMPTY_SCHEMA, 1, { A: 'service', B: 'service' });
    schema = registered(schema, 2, { A: 'service' });
    schema = registered(schema, 1, { A: 'service' }, { force: true });
    expect(revisions(schema)).toEqual([
      [id(1), 'A3'],
      [id(2), 'A2'],
    ]);
  });

  it('starts again at 1 after the last deployment of a service is gone', () => {
    const schema = withoutDeployment(registered(EMPTY_SCHEMA, 1, { A: 'service' }), id(1));
    expect(revisions(registered(schema, 2, { A: 'service' }))).toEqual([[id(2), 'A1']]);
  });

  it('takes scheme and query for no part of the destination', () => {
    const schema = registered(EMPTY_SCHEMA, 1, { A: 'service' });
    const again = (uri: string): string => codeOf(() => registered(schema, 1, {}, { uri }));
    expect(again('https://host:1/?x=1')).toBe('META0004');
    expect(again('http://host:1/path')).toBe('none');
    expect(again('http://user@host:1/')).toBe('none');
  });

  it('tells deployments with one address apart by the routing headers', () => {
    const sent = (additionalHeaders: Record<string, string>): Changes => ({ additionalHeaders });
    const schema = registered(EMPTY_SCHEMA, 1, { A: 'service' }, sent({ 'x-tenant': 'a' }));
    const again = (headers: Record<string, string>): string =>
      codeOf(() => registered(schema, 1, {}, sent(headers)));
    expect(again({ 'x-tenant': 'a', 'x-other': '1' })).toBe('META0004');
    expect(again({ 'x-tenant': 'b' })).toBe('none');
    expect(again({})).toBe('none');
  });

  it('takes functions for the same only when their names are equal', () => {
    const lambda = (version: number): Changes => {
      const arn = `arn:aws:lambda:eu-central-1:1:function:f:${String(version)}`;
      return { destination: { kind: 'lambda', arn, assumeRoleArn: undefined } };
    };
    const schema = registered(EMPTY_SCHEMA, 1, { A: 'service' }, lambda(1));
    expect(codeOf(() => registered(schema, 1, {}, lambda(1)))).toBe('META0004');
    expect(codeOf(() => registered(schema, 1, {}, lambda(2)))).toBe('none');
  });

  it('refuses another type unless it may break', () => {
    const schema = registered(EMPTY_SCHEMA, 1, { A: 'service' });
    const change = (more: Changes): string =>
      codeOf(() => registered(schema, 2, { A: 'workflow' }, more));
    expect(change({})).toBe('META0006');
    expect(change({ breaking: true })).toBe('none');
    expect(change({ force: true })).toBe('none');
  });
});
