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

export type Story = typeof story;
export type Tally = typeof tally;
export type Order = typeof order;

process.on('disconnect', () => {
  process.exit();
});
await restate.serve({ services: [story, tally, order], port: Number(process.env['PORT']) });
process.send?.({ happened: 'listening' });
