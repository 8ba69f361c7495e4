/** The handlers under load, served by the SDK over HTTP/2 on $PORT. */

import * as restate from '@restatedev/restate-sdk';

const bench = restate.service({
  name: 'Bench',
  handlers: {
    echo: (_ctx: restate.Context, value: number): Promise<number> => Promise.resolve(value),
    steps: async (ctx: restate.Context, count: number): Promise<number> => {
      let sum = 0;
      for (let step = 0; step < count; step += 1) {
        sum += await ctx.run(`step-${String(step)}`, () => step);
      }
      return sum;
    },
    calls: async (ctx: restate.Context, count: number): Promise<number> => {
      let sum = 0;
      for (let call = 0; call < count; call += 1) {
        sum += await ctx.serviceClient<typeof bench>({ name: 'Bench' }).echo(call);
      }
      return sum;
    },
  },
});

const counter = restate.object({
  name: 'Counter',
  handlers: {
    add: async (ctx: restate.ObjectContext, amount: number): Promise<number> => {
      const total = ((await ctx.get<number>('total')) ?? 0) + amount;
      ctx.set('total', total);
      return total;
    },
  },
});

await restate.serve({ services: [bench, counter], port: Number(process.env['PORT']) });
