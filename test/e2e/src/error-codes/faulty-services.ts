/** Handlers with faults that only their code has, hosted with the public SDK in a process of their own. */

import * as restate from '@restatedev/restate-sdk';

import { happened } from '#parent';

let attempts = 0;

const faulty = restate.service({
  name: 'Faulty',
  options: { retryPolicy: { initialInterval: 100, maxInterval: 100 } },
  handlers: {
    throws: (): Promise<never> => Promise.reject(new Error('out of order')),
    /** What it does depends on something outside of the journal. */
    diverges: async (ctx: restate.Context): Promise<void> => {
      attempts += 1;
      if (attempts > 1) {
        await ctx.sleep(1);
        return;
      }
      await ctx.run('first', () => 1);
      throw new Error('once more');
    },
  },
});

await restate.serve({ services: [faulty], port: Number(process.env['PORT']) });
happened('listening');
