/**
 * Services that set policies of their own, hosted with the public SDK in a process of their own: `node policy-services.ts` on
 * $PORT. What really happened is told to the parent beside the engine.
 */

import * as restate from '@restatedev/restate-sdk';

import { happened } from '#parent';

const { handler } = restate.handlers;

/** Tells that the handler ran, and fails. */
function fails(name: string): () => Promise<never> {
  return () => {
    happened(name);
    throw new Error('boom');
  };
}

/** Settles nothing: the server decides. */
const plain = restate.service({
  name: 'Plain',
  handlers: {
    fail: fails('plain/fail'),
    greet: (_ctx: restate.Context, name: string): Promise<string> => {
      happened('plain/greet');
      return Promise.resolve(`Hello ${name}`);
    },
    nap: async (ctx: restate.Context, ms: number): Promise<void> => {
      await ctx.sleep(ms);
    },
  },
});

/** A service with a retry policy, and handlers that take over some of it. */
const retries = restate.service({
  name: 'Retries',
  handlers: {
    inherits: fails('inherits'),
    longer: handler({ retryPolicy: { maxAttempts: 4 } }, fails('longer')),
    pauses: handler({ retryPolicy: { onMaxAttempts: 'pause' } }, fails('pauses')),
    once: handler({ retryPolicy: { maxAttempts: 1 } }, fails('once')),
    slow: handler(
      { retryPolicy: { initialInterval: { minutes: 10 }, maxInterval: { minutes: 20 } } },
      fails('slow'),
    ),
    capped: handler({ retryPolicy: { maxAttempts: 1_000 } }, fails('capped')),
    /** Three waits: at least 100, 200 and 250 ms. */
    grows: handler(
      {
        retryPolicy: {
          initialInterval: 100,
          exponentiationFactor: 2,
          maxInterval: 250,
          maxAttempts: 4,
        },
      },
      () => {
        happened(`grows@${String(Date.now())}`);
        throw new Error('boom');
      },
    ),
    /** Fails twice before and twice behind a step: no more than two failures in a row. */
    progresses: handler(
      { retryPolicy: { maxAttempts: 3 } },
      async (ctx: restate.Context): Promise<string> => {
        await trouble('before');
        await ctx.run('step', () => {
          happened('step');
        });
        await trouble('behind');
        return 'done';
      },
    ),
    /** The step fails, not the handler around it. */
    step: handler(
      { retryPolicy: { initialInterval: { hours: 1 }, maxInterval: { hours: 1 } } },
      async (ctx: restate.Context): Promise<void> => {
        await ctx.sleep(1);
        await ctx.run('charge', () => {
          throw new Error('declined');
        });
      },
    ),
    /** Says itself how long to wait, more often than the policy allows attempts. */
    sets: handler({ retryPolicy: { maxAttempts: 2 } }, async (): Promise<string> => {
      await trouble('sets', 4, () => new restate.RetryableError('later', { retryAfter: 1 }));
      return 'done';
    }),
  },
  options: {
    retryPolicy: {
      initialInterval: 1,
      exponentiationFactor: 1,
      maxInterval: 10,
      maxAttempts: 2,
      onMaxAttempts: 'kill',
    },
  },
});

const troubles = new Map<string, number>();

function trouble(
  name: string,
  times = 2,
  error: () => Error = () => new Error(name),
): Promise<void> {
  const count = (troubles.get(name) ?? 0) + 1;
  troubles.set(name, count);
  happened(`trouble ${name}`);
  if (count <= times) throw error();
  return Promise.resolve();
}

async function nap(ctx: restate.Context, ms: number): Promise<string> {
  happened('nap');
  await ctx.sleep(ms);
  return 'slept';
}

/** Waits for something that the SDK does not know of. */
function hangs(name: string): () => Promise<never> {
  return () => {
    happened(name);
    return new Promise(() => undefined);
  };
}

const times = restate.service({
  name: 'Times',
  handlers: {
    patient: handler({ inactivityTimeout: { hours: 1 } }, nap),
    inherits: nap,
    never: handler({ inactivityTimeout: 0 }, nap),
    hangs: handler({ abortTimeout: 200 }, hangs('hangs')),
  },
  options: {
    inactivityTimeout: 100,
    abortTimeout: { minutes: 1 },
    retryPolicy: { initialInterval: { hours: 1 }, maxInterval: { hours: 1 } },
  },
});

const keeps = restate.service({
  name: 'Keeps',
  handlers: {
    inherits: (_ctx: restate.Context, name: string): Promise<string> => Promise.resolve(name),
    nothing: handler({ journalRetention: 0, idempotencyRetention: 0 }, () => {
      happened('nothing');
      return Promise.resolve('gone');
    }),
    briefly: handler({ journalRetention: { seconds: 2 } }, () => Promise.resolve('briefly')),
    result: handler({ idempotencyRetention: { seconds: 2 } }, () => {
      happened('result');
      return Promise.resolve('result');
    }),
    tooLong: handler({ journalRetention: { days: 30 }, idempotencyRetention: { days: 30 } }, () =>
      Promise.resolve('long'),
    ),
  },
  options: { journalRetention: { minutes: 10 }, idempotencyRetention: { minutes: 20 } },
});

const flow = restate.workflow({
  name: 'Brief',
  handlers: {
    run: async (ctx: restate.WorkflowContext): Promise<string> => {
      happened('run');
      ctx.set('stage', 'done');
      return Promise.resolve('ran');
    },
    stage: async (ctx: restate.WorkflowSharedContext): Promise<string | null> => ctx.get('stage'),
  },
  options: { workflowRetention: { seconds: 2 } },
});

const lazy = restate.object({
  name: 'Lazy',
  handlers: {
    inherits: (ctx: restate.ObjectContext): Promise<string | null> => ctx.get('name'),
    eager: restate.handlers.object.exclusive(
      { enableLazyState: false },
      (ctx: restate.ObjectContext): Promise<string | null> => ctx.get('name'),
    ),
    put: (ctx: restate.ObjectContext, name: string): Promise<void> => {
      ctx.set('name', name);
      return Promise.resolve();
    },
  },
  options: { enableLazyState: true },
});

await restate.serve({
  services: [plain, retries, times, keeps, flow, lazy],
  port: Number(process.env['PORT']),
});
happened('listening');
