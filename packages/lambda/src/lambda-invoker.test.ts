import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompressSync } from 'node:zlib';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { EngineError } from '@engine/domain';
import { systemClock } from '@engine/runtime';
import { createEndpointHandler, service } from '@restatedev/restate-sdk/lambda';

import type { FunctionRequest, FunctionResponse } from './function-invoker.js';
import { LambdaInvoker, type LambdaOptions } from './lambda-invoker.js';
import { PACKED_BODY_BYTES_MAX, RESPONSE_PAYLOAD_BYTES_MAX } from './limits.js';
import { LambdaStandIn, refuseAs } from './testing/index.js';

const ARN = 'arn:aws:lambda:eu-central-1:123456789012:function:greeter:$LATEST';
const ROLE = 'arn:aws:iam::123456789012:role/caller';
const OPTIONS: LambdaOptions = {
  profile: undefined,
  assumeRoleExternalId: undefined,
  compressionThresholdBytes: 100,
};

let standIn: LambdaStandIn;
let invoker: LambdaInvoker;
const environment = { ...process.env };

beforeAll(async () => {
  standIn = await LambdaStandIn.start();
  Object.assign(process.env, standIn.env);
});

beforeEach(() => {
  invoker = new LambdaInvoker(OPTIONS, systemClock);
});

afterEach(() => {
  invoker[Symbol.dispose]();
  standIn.refuse = undefined;
  standIn.keepsRoles = false;
  standIn.calls.length = 0;
  standIn.assumedRoles.length = 0;
});

afterAll(async () => {
  process.env = environment;
  await standIn[Symbol.asyncDispose]();
});

function invoke(more: Partial<FunctionRequest> = {}): Promise<FunctionResponse> {
  return invoker.invoke({
    arn: ARN,
    assumeRoleArn: undefined,
    method: 'POST',
    path: '/invoke/Greeter/greet',
    headers: { 'content-type': 'a/b' },
    body: new Uint8Array(),
    compression: undefined,
    signal: AbortSignal.timeout(10_000),
    ...more,
  });
}

async function errorOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
    return 'none';
  } catch (error) {
    const { code, message } = error as EngineError;
    return `${code}: ${message}`;
  }
}

describe('a function', () => {
  it('gets the request as an event with nothing else in it, through the client of its region', async () => {
    standIn.deploy(ARN, () => ({ statusCode: 204 }));
    const response = await invoke({ body: Buffer.from('hi') });
    expect(response).toMatchObject({ status: 204, headers: {} });
    expect(await text(response.body)).toBe('');
    const [call] = standIn.calls;
    expect(call?.event).toEqual({
      path: '/invoke/Greeter/greet',
      httpMethod: 'POST',
      headers: { 'content-type': 'a/b' },
      body: 'aGk=',
      isBase64Encoded: true,
    });
    expect(call?.headers.authorization).toContain('/eu-central-1/lambda/aws4_request');
    expect(standIn.assumedRoles).toEqual([]);
  });

  it('answers with text or base64, and header names in any case', async () => {
    const headers = { 'Content-Type': 'x/y' };
    standIn.deploy(ARN, () => ({ statusCode: 200, headers, body: 'plain ü', extra: 1 }));
    const plain = await invoke();
    expect(plain.headers).toEqual({ 'content-type': 'x/y' });
    expect(await text(plain.body)).toBe('plain ü');
    const body = Buffer.from('packed ü').toString('base64');
    standIn.deploy(ARN, () => ({ statusCode: 200, headers: null, body, isBase64Encoded: true }));
    expect(await text((await invoke()).body)).toBe('packed ü');
  });

  it('of the real SDK is discovered', async () => {
    const greeter = service({
      name: 'Greeter',
      handlers: { greet: () => Promise.resolve('hi') },
    });
    const handler = createEndpointHandler({ services: [greeter], logger: () => undefined });
    standIn.deploy(ARN, handler as () => unknown);
    const accept = 'application/vnd.restate.endpointmanifest.v4+json';
    const response = await invoke({ method: 'GET', path: '/discover', headers: { accept } });
    expect(response.status).toBe(200);
    const manifest = JSON.parse(await text(response.body)) as Record<string, unknown>;
    expect(manifest).toMatchObject({
      protocolMode: 'REQUEST_RESPONSE',
      lambdaCompression: 'zstd',
      services: [{ name: 'Greeter' }],
    });
  });
});

describe('compression', () => {
  const packed = async (body: string) => ({
    statusCode: 200,
    headers: { 'content-encoding': 'zstd' },
    body: (await promisify(zstdCompress)(Buffer.from(body))).toString('base64'),
    isBase64Encoded: true,
  });

  it('packs what is large, and says that answers may be packed', async () => {
    standIn.deploy(ARN, () => packed('a'.repeat(1_000_000)));
    const body = Buffer.from('b'.repeat(100));
    const response = await invoke({ body, compression: 'zstd' });
    expect(await text(response.body)).toBe('a'.repeat(1_000_000));
    const event = standIn.calls[0]?.event;
    expect(event?.headers).toEqual({
      'content-type': 'a/b',
      'accept-encoding': 'zstd',
      'content-encoding': 'zstd',
    });
    expect(zstdDecompressSync(Buffer.from(event?.body ?? '', 'base64'))).toEqual(body);
  });

  it('leaves small bodies and functions that cannot unpack alone', async () => {
    standIn.deploy(ARN, () => ({ statusCode: 200 }));
    await invoke({ body: Buffer.from('b'.repeat(99)), compression: 'zstd' });
    await invoke({ body: Buffer.from('b'.repeat(100)) });
    expect(standIn.calls.map(({ event }) => event.headers)).toEqual([
      { 'content-type': 'a/b', 'accept-encoding': 'zstd' },
      { 'content-type': 'a/b' },
    ]);
  });

  it('makes room for what would be too much', async () => {
    standIn.deploy(ARN, () => ({ statusCode: 200 }));
    const body = new Uint8Array(PACKED_BODY_BYTES_MAX + 1);
    expect((await invoke({ body })).status).toBe(413);
    expect(standIn.calls).toEqual([]);
    expect((await invoke({ body, compression: 'zstd' })).status).toBe(200);
  });

  it('fails the body that is not what it says', async () => {
    standIn.deploy(ARN, () => ({
      statusCode: 200,
      headers: { 'content-encoding': 'zstd' },
      body: 'not packed',
    }));
    const response = await invoke();
    await expect(text(response.body)).rejects.toThrow();
  });
});

describe('a role', () => {
  it('is taken on once, with a session name and the external id', async () => {
    standIn.deploy(ARN, () => ({ statusCode: 200 }));
    invoker = new LambdaInvoker({ ...OPTIONS, assumeRoleExternalId: 'ours' }, systemClock);
    await invoke({ assumeRoleArn: ROLE });
    await invoke({ assumeRoleArn: ROLE });
    expect(standIn.assumedRoles).toHaveLength(1);
    const [parameters] = standIn.assumedRoles;
    expect(Object.fromEntries(parameters ?? [])).toMatchObject({
      Action: 'AssumeRole',
      RoleArn: ROLE,
      RoleSessionName: expect.stringMatching(/^engine-\d{10}$/),
      ExternalId: 'ours',
    });
    for (const call of standIn.calls) expect(call.headers.authorization).toContain('ASSUMED/');
  });

  it('that AWS does not give in time holds up neither this call nor later ones', async () => {
    standIn.deploy(ARN, () => ({ statusCode: 200 }));
    standIn.keepsRoles = true;
    invoker = new LambdaInvoker({ ...OPTIONS, assumeRoleMsMax: 100 }, systemClock);
    const late = `unavailable: AWS did not give the role '${ROLE}' in time`;
    expect(await errorOf(invoke({ assumeRoleArn: ROLE }))).toBe(late);
    standIn.keepsRoles = false;
    expect(await invoke({ assumeRoleArn: ROLE })).toMatchObject({ status: 200 });
  });
});

describe('what AWS says instead of the function', () => {
  const refuse = async (status: number, type: string, more = {}): Promise<string> => {
    standIn.refuse = (response) => {
      for (const [name, value] of Object.entries(more)) response.setHeader(name, String(value));
      refuseAs(response, { status, type, message: 'because' });
    };
    return errorOf(invoke());
  };

  it('413 and 429 are told as responses', async () => {
    standIn.refuse = (response) => {
      refuseAs(response, { status: 413, type: 'RequestTooLargeException' });
    };
    expect((await invoke()).status).toBe(413);
    standIn.refuse = (response) => {
      response.setHeader('retry-after', '7');
      refuseAs(response, { status: 429, type: 'TooManyRequestsException' });
    };
    expect(await invoke()).toMatchObject({ status: 429, headers: { 'retry-after': '7' } });
  });

  it('is sent once: the server counts attempts', async () => {
    let count = 0;
    standIn.refuse = (response) => {
      count += 1;
      refuseAs(response, { status: 500, type: 'ServiceException', message: 'because' });
    };
    expect(await errorOf(invoke())).toBe(
      'unavailable: the function cannot be invoked: ServiceException: because',
    );
    expect(count).toBe(1);
  });

  it('refusals do not pass', async () => {
    expect(await refuse(403, 'AccessDeniedException')).toBe(
      'RT0010: the function cannot be invoked: AccessDeniedException: because',
    );
    expect(await errorOf(invoke({ arn: ARN.replace('$LATEST', 'gone') }))).toContain('RT0010');
  });

  it('nobody there may pass', async () => {
    const { AWS_ENDPOINT_URL_LAMBDA: url } = process.env;
    process.env['AWS_ENDPOINT_URL_LAMBDA'] = 'http://127.0.0.1:1';
    try {
      expect(await errorOf(invoke())).toContain('unavailable: the function cannot be invoked: ');
    } finally {
      process.env['AWS_ENDPOINT_URL_LAMBDA'] = url;
    }
  });

  it('an aborted call ends at once', async () => {
    standIn.deploy(ARN, () => new Promise(() => undefined));
    const abort = new AbortController();
    const asked = errorOf(invoke({ signal: abort.signal }));
    abort.abort();
    expect(await asked).toContain('RT0010: the function cannot be invoked: AbortError');
  });
});

describe('a failed function', () => {
  it('fails the call with its text', async () => {
    standIn.deploy(ARN, () => {
      throw new TypeError('x is undefined');
    });
    expect(await errorOf(invoke())).toBe(
      'RT0010: the function failed (Unhandled): TypeError: x is undefined',
    );
  });

  it.each([
    ['a text', 'hello', 'it is no JSON object'],
    ['no status', { body: 'x' }, "bad member 'statusCode'"],
    ['odd headers', { statusCode: 200, headers: { a: [] } }, "bad member 'headers.a'"],
  ])('that answers with %s', async (_name, returned, reason) => {
    standIn.deploy(ARN, () => returned);
    expect(await errorOf(invoke())).toBe(
      `RT0010: the function did not answer with a response: ${reason}`,
    );
  });

  it('that answers with too much', async () => {
    standIn.deploy(ARN, () => 'x'.repeat(RESPONSE_PAYLOAD_BYTES_MAX));
    expect(await errorOf(invoke())).toContain('RT0010: the answer of the function has more than');
  });
});
