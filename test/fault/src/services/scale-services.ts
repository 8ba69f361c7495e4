/** What the scaling measurement calls: handlers that tell nobody, as a process of their own: `node scale-services.ts` on $PORT. */

import * as restate from '@restatedev/restate-sdk';

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

const work = restate.service({
  name: 'Work',
  handlers: {
    steps: async (ctx: restate.Context, count: number): Promise<number> => {
      let sum = 0;
      for (let step = 0; step < count; step += 1) {
        sum += await ctx.run(`step-${String(step)}`, () => step);
      }
      return sum;
    },
  },
});

await restate.serve({ services: [counter, work], port: Number(process.env['PORT']) });
process.send?.({ number: 0 });
process.on('disconnect', () => process.exit());
