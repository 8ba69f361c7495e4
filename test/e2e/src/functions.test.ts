/** Deployments that are functions on AWS: what only they can do, and what only they can suffer. */

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LambdaStandIn, refuseAs, type StandInFunction } from '@engine/lambda/testing';
import { EngineProcess, waitUntil } from '@engine-test/support';
import * as restate from '@restatedev/restate-sdk/lambda';

import { call, invocation, register, result, send, type InvocationRow } from './ask.js';

const LIMIT_MS = 60_000;
const ROLE = 'arn:aws:iam::123456789012:role/caller';

const echo = restate.service({
  name: 'Echo',
  handlers: {
    echo: (_ctx: restate.Context, text: string): Promise<string> => Promise.resolve(text),
  },
});
const handler = restate.createEndpointHandler({
  services: [echo],
  logger: () => undefined,
}) as StandInFunction;

let standIn: LambdaStandIn;
let engine: EngineProcess;

function arn(name: string): string {
  return `arn:aws:lambda:eu-west-1:123456789012:function:${name}:live`;
}

beforeAll(async () => {
  standIn = await LambdaStandIn.start();
  standIn.deploy(arn('echo'), handler);
  engine = await EngineProcess.start({
    ...standIn.env,
    ENGINE_WORKER__INVOKER__REQUEST_COMPRESSION_THRESHOLD: '1 KiB',
    ENGINE_WORKER__INVOKER__AWS_ASSUME_ROLE_EXTERNAL_ID: 'ours',
    ENGINE_DEFAULT_RETRY_POLICY__MAX_INTERVAL: '100ms',
    ENGINE_DEFAULT_RETRY_POLICY__MAX_ATTEMPTS: 'unlimited',
  });
  const body = { arn: arn('echo'), assume_role_arn: ROLE };
  expect(await register(engine, body)).toMatchObject({ status: 201 });
}, LIMIT_MS);

afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});

describe('a function', () => {
  it('is called in its region, in the role of its deployment, packed when that is worth it', async () => {
    standIn.calls.length = 0;
    standIn.assumedRoles.length = 0;
    const content = 'a'.repeat(100_000);
    expect(await call(engine, 'Echo/echo', content)).toBe(content);
    expect(await call(engine, 'Echo/echo', 'short')).toBe('short');
    const [large, small] = standIn.calls;
    expect(large?.event.headers['content-encoding']).toBe('zstd');
    expect(large?.event.body.length).toBeLessThan(2_000);
    expect(small?.event.headers).not.toHaveProperty('content-encoding');
    expect(large?.headers.authorization).toMatch(/ASSUMED\/\d+\/eu-west-1\/lambda/);
    // The role was taken on for discovery and is kept.
    expect(standIn.assumedRoles).toEqual([]);
  });

  it('META0003 is not registered when it fails, or is not there', async () => {
    standIn.deploy(arn('broken'), () => {
      throw new Error('no such module');
    });
    const broken = await register(engine, { arn: arn('broken') });
    expect(broken).toMatchObject({ status: 500, code: 'META0003' });
    expect(broken.message).toContain('no such module');
    const gone = await register(engine, { arn: arn('gone') });
    expect(gone).toMatchObject({ status: 500, code: 'META0003' });
    expect(gone.message).toContain('ResourceNotFoundException');
  });

  it('META0015 is not registered when it wants to stream both ways', async () => {
    const manifest = {
      protocolMode: 'BIDI_STREAM',
      minProtocolVersion: 5,
      maxProtocolVersion: 7,
      services: [],
    };
    standIn.deploy(arn('stream'), () => ({
      statusCode: 200,
      headers: { 'content-type': 'application/vnd.restate.endpointmanifest.v4+json' },
      body: JSON.stringify(manifest),
    }));
    const refusal = await register(engine, { arn: arn('stream') });
    expect(refusal).toMatchObject({ status: 500, code: 'META0015' });
  });
});

describe('an attempt at a function', () => {
  /** Lets attempts fail in one way until the failure shows, then no more. */
  async function failing(fail: () => void): Promise<InvocationRow> {
    fail();
    const id = await send(engine, 'Echo/echo', 'patience');
    try {
      return await waitUntil('the failure shows', async () => {
        const row = await invocation(engine, id);
        return row?.last_failure === undefined ? undefined : row;
      });
    } finally {
      standIn.refuse = undefined;
      standIn.deploy(arn('echo'), handler);
      expect(await result(engine, id)).toBe('patience');
    }
  }

  it('RT0023 waits when AWS wants a slower pace', async () => {
    const row = await failing(() => {
      standIn.refuse = (response) => {
        response.setHeader('retry-after', '1');
        refuseAs(response, { status: 429, type: 'TooManyRequestsException' });
      };
    });
    expect(row.last_failure_error_code).toBe('RT0023');
  });

  it('RT0019 says that AWS does not take that much', async () => {
    const row = await failing(() => {
      standIn.refuse = (response) => {
        refuseAs(response, { status: 413, type: 'RequestTooLargeException' });
      };
    });
    expect(row.last_failure_error_code).toBe('RT0019');
  });

  it('RT0010 says how the function failed', async () => {
    const row = await failing(() => {
      standIn.deploy(arn('echo'), () => {
        throw new Error('Task timed out after 3.00 seconds');
      });
    });
    expect(row.last_failure_error_code).toBe('RT0010');
    expect(row.last_failure).toContain('Task timed out after 3.00 seconds');
  });

  it('RT0010 says that AWS cannot be reached', async () => {
    const row = await failing(() => {
      standIn.refuse = (response) => response.destroy();
    });
    expect(row.last_failure_error_code).toBe('RT0010');
    expect(row.last_failure).toContain('the function cannot be invoked');
  });
});
