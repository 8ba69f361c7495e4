/**
 * Services of the end-to-end tests, hosted with the public SDK in a process of their own: `node services.ts` on $PORT. What
 * really happened is told to the parent beside the engine: `{ happened: name }` each time a line of code ran.
 */

import * as restate from '@restatedev/restate-sdk';

function happened(name: string): void {
  process.send?.({ happened: name });
}

const gates = new Map<string, () => void>();
const opened = new Set<string>();
process.on('message', (message: { open: string }) => {
  opened.add(message.open);
  gates.get(message.open)?.();
});

/** Blocks until the parent opens the gate. */
function gate(name: string): Promise<void> {
  return opened.has(name)
    ? Promise.resolve()
    : new Promise((resolve) => {
        gates.set(name, resolve);
      });
}

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

process.on('disconnect', () => {
  process.exit();
});
await restate.serve({
  services: [story, tally, order, crowd, queue],
  port: Number(process.env['PORT']),
});
process.send?.({ happened: 'listening' });
