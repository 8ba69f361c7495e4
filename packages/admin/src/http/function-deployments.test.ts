import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { FunctionRequest, FunctionResponse } from '@engine/lambda';
import { deploymentListShape, deploymentShape } from '../openapi/shapes.js';
import { AdminFixture, idOf, problem, type Reply } from '../testing/admin-fixture.js';
import { FakeEndpoint, service } from '../testing/fake-endpoint.js';

const ARN = 'arn:aws:lambda:eu-central-1:123456789012:function:greeter:7';
const NEXT = ARN.replace(/7$/, '$LATEST');
const ROLE = 'arn:aws:iam::123456789012:role/caller';
const asked: FunctionRequest[] = [];
let manifest: object;
/** Happens once, while the next function is asked. */
let meanwhile: (() => Promise<unknown>) | undefined;
let admin: AdminFixture;

beforeEach(async () => {
  asked.length = 0;
  manifest = { services: [service('Fn')], lambdaCompression: 'zstd' };
  meanwhile = undefined;
  const invoke = async (request: FunctionRequest): Promise<FunctionResponse> => {
    asked.push(request);
    const happens = meanwhile;
    meanwhile = undefined;
    await happens?.();
    return functionAnswer(manifest);
  };
  admin = await AdminFixture.start({}, { functions: { invoke } });
});
afterEach(() => admin[Symbol.asyncDispose]());

describe('functions', () => {
  it('are registered by name and shown with what they need', async () => {
    const additional_headers = { 'x-secret': 's' };
    const reply = await admin.register({ arn: ARN, assume_role_arn: ROLE, additional_headers });
    expect(reply).toMatchObject({ status: 201, json: { services: [{ name: 'Fn' }] } });
    expect(asked).toMatchObject([{ arn: ARN, assumeRoleArn: ROLE, headers: additional_headers }]);
    const { json } = await admin.ask('GET', `/deployments/${idOf(reply)}`);
    expect(json).toMatchObject({ arn: ARN, assume_role_arn: ROLE, compression: 'Zstd' });
    expect(json).toMatchObject({ additional_headers });
    for (const member of ['uri', 'protocol_type', 'http_version']) {
      expect(json).not.toHaveProperty(member);
    }
    expect(deploymentShape.parse(json)).toEqual(json);
    const list = (await admin.ask('GET', '/v4/deployments')).json;
    expect(deploymentListShape.parse(list)).toEqual(list);
  });

  it('show neither a role nor a compression that they do not have', async () => {
    manifest = {};
    const { json } = await admin.ask(
      'GET',
      `/deployments/${idOf(await admin.register({ arn: ARN }))}`,
    );
    expect(json).not.toHaveProperty('assume_role_arn');
    expect(json).not.toHaveProperty('compression');
  });

  it('are the same only with equal names', async () => {
    const id = idOf(await admin.register({ arn: ARN }));
    expect(await admin.register({ arn: ARN })).toMatchObject({
      status: 409,
      json: problem('META0004'),
    });
    expect(await admin.register({ arn: ARN }, '/v4')).toMatchObject({ status: 200, json: { id } });
    expect(await admin.register({ arn: ARN, force: true })).toMatchObject({
      status: 200,
      json: { id },
    });
    expect((await admin.register({ arn: NEXT })).status).toBe(201);
  });

  it('have to answer only when they are through', async () => {
    manifest = { protocolMode: 'BIDI_STREAM' };
    expect(await admin.register({ arn: ARN })).toMatchObject({
      status: 500,
      json: problem('META0015'),
    });
  });

  it.each([
    ['arn:aws:lambda:eu', 'too short'],
    ['arn:aws:lambda:eu-central-1:1:function:f', 'version'],
    ['arn:aws:lambda:eu-central-1:1:function:f:', 'version'],
    ['arm:aws:lambda:eu-central-1:1:function:f:1', "'arn'"],
    ['arn:aws:s3:eu-central-1:1:function:f:1', "'s3'"],
    ['arn:aws:lambda:eu-central-1:1:layer:f:1', "'layer'"],
    ['arn::lambda:eu-central-1:1:function:f:1', 'no partition'],
    ['arn:aws:lambda::1:function:f:1', 'no region'],
    ['arn:aws:lambda:eu-central-1::function:f:1', 'no account'],
    ['arn:aws:lambda:eu-central-1:1:function::1', 'no name'],
  ])('are not asked under the name %s', async (arn, reason) => {
    const reply = await admin.register({ arn });
    expect(reply).toMatchObject({ status: 400, json: problem(null) });
    expect(reply.json['message']).toContain("bad field 'arn'");
    expect(reply.json['message']).toContain(reason);
    expect(asked).toEqual([]);
  });

  it('and endpoints take the place of each other in an update', async () => {
    await using one = await FakeEndpoint.start('h2', { manifest: { services: [service('Fn')] } });
    const id = idOf(await admin.register({ uri: one.uri }));
    const patch = (body: object): Promise<Reply> => admin.ask('PATCH', `/deployments/${id}`, body);
    expect(await patch({ assume_role_arn: ROLE })).toMatchObject({
      status: 400,
      json: problem(null),
    });
    expect(await patch({ arn: ARN, assume_role_arn: ROLE })).toMatchObject({
      status: 200,
      json: { id, arn: ARN, assume_role_arn: ROLE, services: [{ revision: 1 }] },
    });
    expect(await patch({ use_http_11: true })).toMatchObject({ status: 400, json: problem(null) });
    expect(await patch({ arn: NEXT })).toMatchObject({
      status: 200,
      json: { arn: NEXT, assume_role_arn: ROLE },
    });
    expect(await patch({ assume_role_arn: `${ROLE}2` })).toMatchObject({
      status: 200,
      json: { arn: NEXT, assume_role_arn: `${ROLE}2` },
    });
    expect(await patch({ uri: one.uri })).toMatchObject({
      status: 200,
      json: { uri: one.uri, protocol_type: 'BidiStream', http_version: 'HTTP/2.0' },
    });
  });

  it('keep what another update changed while this one asked', async () => {
    const id = idOf(await admin.register({ arn: ARN }));
    const patch = (body: object): Promise<Reply> => admin.ask('PATCH', `/deployments/${id}`, body);
    const additional_headers = { 'x-secret': 's' };
    meanwhile = () => patch({ additional_headers });
    expect(await patch({ arn: NEXT })).toMatchObject({ status: 409, json: problem(null) });
    expect((await admin.ask('GET', `/deployments/${id}`)).json).toMatchObject({
      arn: ARN,
      additional_headers,
    });
    meanwhile = () => admin.ask('PATCH', '/services/Fn', { public: false });
    expect(await patch({ arn: NEXT })).toMatchObject({
      status: 200,
      json: { arn: NEXT, additional_headers, services: [{ public: false }] },
    });
  });
});

function functionAnswer(manifest: object): FunctionResponse {
  const body = {
    protocolMode: 'REQUEST_RESPONSE',
    minProtocolVersion: 5,
    maxProtocolVersion: 7,
    services: [],
    ...manifest,
  };
  return {
    status: 200,
    headers: { 'content-type': 'application/vnd.restate.endpointmanifest.v4+json' },
    body: Readable.from([Buffer.from(JSON.stringify(body))]),
  };
}
