import { generateKeyPairSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { EngineError } from '@engine/domain';
import type { FunctionRequest, FunctionResponse } from '@engine/lambda';
import { readSigningKey, RequestSigner } from '@engine/request-identity';
import { seededRandom, systemClock } from '@engine/runtime';
import { DISCOVERY_ACCEPT } from '@engine/service-protocol';
import { EMPTY_BYTES } from '@engine/stdx';
import { FakeEndpoint, service } from '../testing/fake-endpoint.js';
import { HURRIED } from '../testing/hurried.js';
import { createDiscover, type DiscoveredEndpoint } from './discover.js';

const ARN = 'arn:aws:lambda:eu-west-1:123456789012:function:greeter:7';
const ROLE = 'arn:aws:iam::123456789012:role/caller';
const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
const key = readSigningKey(pem.toString());
const signer = new RequestSigner({ key, expirationMs: 60_000 }, systemClock);

function answer(status: number, manifest: object = {}): FunctionResponse {
  const body = JSON.stringify({
    protocolMode: 'REQUEST_RESPONSE',
    minProtocolVersion: 5,
    maxProtocolVersion: 7,
    services: [service('Greeter')],
    ...manifest,
  });
  return {
    status,
    headers: {
      'content-type': 'application/vnd.restate.endpointmanifest.v4+json',
      'x-restate-server': 'kit/1',
    },
    body: Readable.from([Buffer.from(body)]),
  };
}

/** Discovers with one answer after the other; the last one stays. */
async function discover(
  answers: readonly (FunctionResponse | Error)[],
  given: { readonly signer?: RequestSigner } = {},
): Promise<{ readonly found: DiscoveredEndpoint | string; readonly asked: FunctionRequest[] }> {
  const asked: FunctionRequest[] = [];
  const ask = createDiscover({
    clusterName: 'test',
    functions: {
      invoke: (request) => {
        const next = answers[Math.min(asked.push(request), answers.length) - 1];
        if (next instanceof Error) return Promise.reject(next);
        return next === undefined ? Promise.reject(new Error('none')) : Promise.resolve(next);
      },
    },
    signer: given.signer,
    scheduler: HURRIED,
    random: seededRandom(1),
  });
  const found = await ask({
    destination: { kind: 'lambda', arn: ARN, assumeRoleArn: ROLE },
    additionalHeaders: { 'x-secret': 's' },
  }).catch((error: unknown) => {
    const { code, message } = error as EngineError;
    return `${code}: ${message}`;
  });
  return { found, asked };
}

describe('discovery of a function', () => {
  it('calls it with an empty GET and keeps what it can unpack', async () => {
    const { found, asked } = await discover([answer(200, { lambdaCompression: 'zstd' })]);
    expect(found).toMatchObject({
      endpoint: { kind: 'lambda', arn: ARN, assumeRoleArn: ROLE, compression: 'zstd' },
      discovery: { protocolMode: 'request-response', sdkVersion: 'kit/1' },
    });
    expect(asked).toEqual([
      {
        arn: ARN,
        assumeRoleArn: ROLE,
        method: 'GET',
        path: '/discover',
        headers: {
          accept: DISCOVERY_ACCEPT,
          'x-secret': 's',
          'x-restate-cluster-name': 'test',
        },
        body: EMPTY_BYTES,
        compression: undefined,
        signal: expect.any(AbortSignal),
      },
    ]);
  });

  it('META0015 when it wants to stream both ways', async () => {
    const { found } = await discover([answer(200, { protocolMode: 'BIDI_STREAM' })]);
    expect(found).toMatch(/^META0015: /);
  });

  it('META0003 at once when the function fails', async () => {
    const { found, asked } = await discover([
      new EngineError('RT0010', 'the function failed (Unhandled): Error: boom'),
    ]);
    expect(found).toBe(
      'META0003: the endpoint cannot be reached: the function failed (Unhandled): Error: boom',
    );
    expect(asked).toHaveLength(1);
  });

  it('goes on after what may pass', async () => {
    const unavailable = new EngineError('unavailable', 'AWS is not there');
    const { found, asked } = await discover([unavailable, answer(429), answer(200)]);
    expect(found).toMatchObject({ endpoint: { kind: 'lambda' } });
    expect(asked).toHaveLength(3);
  });
});

describe('the identity of the server', () => {
  it('goes along with discovery', async () => {
    const { asked } = await discover([answer(200)], { signer });
    expect(asked[0]?.headers).toMatchObject(signer.sign('/discover', undefined));
  });

  it('goes along over HTTP, for the path behind the prefix', async () => {
    await using endpoint = await FakeEndpoint.start('h2');
    const ask = createDiscover({
      clusterName: 'test',
      functions: { invoke: () => Promise.reject(new Error('no function is asked')) },
      signer,
      scheduler: HURRIED,
      random: seededRandom(1),
    });
    const uri = `${endpoint.uri}pre/fix`;
    const destination = { kind: 'http', uri, useHttp11: false } as const;
    await ask({ destination, additionalHeaders: {} });
    expect(endpoint.requests[0]?.path).toBe('/pre/fix/discover');
    expect(endpoint.requests[0]?.headers).toMatchObject(signer.sign('/discover', undefined));
  });

  it('META0003 with a hint at the key when it is not accepted', async () => {
    expect((await discover([answer(401)], { signer })).found).toContain(signer.publicKey);
    expect((await discover([answer(401)])).found).toContain('does it want signed requests');
  });
});
