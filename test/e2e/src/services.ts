/**
 * Services of the end-to-end tests, hosted with the public SDK in a process of their own: `node services.ts` on $PORT. What
 * really happened is told to the parent beside the engine: `{ happened: name }` each time a line of code ran.
 */

import * as restate from '@restatedev/restate-sdk';

import { gate, happened } from '#parent';

const story = restate.service({
  name: 'Story',
  handlers: {
    greet: (_ctx: restate.Context, name: string): Promise<string> =>
      Promise.resolve(`Hello ${name}`),
    sleep: async (
      ctx: restate.Context,
      { name, ms }: { name: string; ms: number },
    ): Promise<string> => {
      happened(`${name}/before`);
      await ctx.sleep(ms);
      happened(`${name}/after`);
      return 'slept';
    },
    run: async (ctx: restate.Context, name: string): Promise<string> => {
      await ctx.run('first', () => {
        happened(`${name}/first`);
      });
      await ctx.run('second', async () => {
        happened(`${name}/second`);
        await gate(name);
      });
      return 'ran';
    },
    call: async (ctx: restate.Context, name: string): Promise<string> => {
      const answer = await ctx.serviceClient<typeof story>({ name: 'Story' }).run(name);
      happened(`${name}/answered`);
      return `callee ${answer}`;
    },
    awake: async (ctx: restate.Context, name: string): Promise<string> => {
      const { id, promise } = ctx.awakeable<string>();
      await ctx.run('tell', () => {
        happened(`${name}/${id}`);
      });
      return promise;
    },
    fail: (): Promise<never> => {
      throw new restate.TerminalError('refused', { errorCode: 418 });
    },
  },
});

const tally = restate.object({
  name: 'Tally',
  handlers: {
    add: async (ctx: restate.ObjectContext, amount: number): Promise<number> => {
      const total = ((await ctx.get<number>('total')) ?? 0) + amount;
      ctx.set('total', total);
      return total;
    },
  },
});

const order = restate.workflow({
  name: 'Order',
  handlers: {
    run: async (ctx: restate.WorkflowContext, item: string): Promise<string> => {
      const paid = await ctx.promise<string>('paid');
      return `${item} for ${paid}`;
    },
    pay: (ctx: restate.WorkflowSharedContext, amount: string): Promise<void> =>
      ctx.promise<string>('paid').resolve(amount),
  },
});

/** Handlers that are called in crowds. */
interface HoardRequest {
  readonly bytes: number;
  readonly napMs: number;
}

const crowd = restate.service({
  name: 'Crowd',
  handlers: {
    /** `wakeAt`: ms since the epoch, the same for a whole crowd. */
    nap: async (ctx: restate.Context, wakeAt: number): Promise<string> => {
      await ctx.sleep(Math.max(1, wakeAt - (await ctx.date.now())));
      return 'slept';
    },
    ping: (): Promise<string> => {
      happened('crowd/ping');
      return Promise.resolve('pong');
    },
    /** As many journal entries as asked for, twice: a run and its completion. */
    steps: async (ctx: restate.Context, count: number): Promise<number> => {
      let sum = 0;
      for (let step = 0; step < count; step += 1) {
        sum += await ctx.run(() => {
          happened('crowd/step');
          return step;
        });
      }
      return sum;
    },
    /** Keeps a step of `bytes` bytes, sleeps so that it is replayed, and gives back how large it found the step. */
    hoard: async (ctx: restate.Context, { bytes, napMs }: HoardRequest): Promise<number> => {
      const serde = restate.serde.binary;
      const step = await ctx.run('fill', () => new Uint8Array(bytes).fill(7), { serde });
      happened('crowd/hoarded');
      await ctx.sleep(napMs);
      return step.length;
    },
    echo: restate.handlers.handler(
      { input: restate.serde.binary, output: restate.serde.binary },
      (_ctx: restate.Context, content: Uint8Array): Promise<Uint8Array> => Promise.resolve(content),
    ),
  },
});

const queue = restate.object({
  name: 'Queue',
  handlers: {
    block: async (_ctx: restate.ObjectContext, name: string): Promise<void> => {
      happened(`${name}/blocks`);
      await gate(name);
    },
    take: (_ctx: restate.ObjectContext, ticket: number): Promise<void> => {
      happened(`queue/${String(ticket)}`);
      return Promise.resolve();
    },
  },
});

export type Story = typeof story;
export type Tally = typeof tally;
export type Order = typeof order;

/** Name of the one service that this process hosts; unset = all of them. */
const only = process.env['ONLY'];

await restate.serve({
  services: [story, tally, order, crowd, queue].filter(
    ({ name }) => only === undefined || name === only,
  ),
  port: Number(process.env['PORT']),
});
happened('listening');
