/** Services of the tests of operations, in a process of their own: `node operation-services.ts` on $PORT. */

import * as restate from '@restatedev/restate-sdk';

import { happened } from '#parent';

const HOUR_MS = 3_600_000;

const sleeper = restate.service({
  name: 'Sleeper',
  handlers: {
    /** Sleeps for an hour; when it is cancelled it cleans up first. */
    nap: async (ctx: restate.Context): Promise<void> => {
      try {
        await ctx.sleep(HOUR_MS);
      } catch (error) {
        await ctx.run('clean up', () => {
          happened('cleaned');
        });
        throw error;
      }
    },
    count: (): Promise<void> => {
      happened('counted');
      return Promise.resolve();
    },
  },
});

await restate.serve({ services: [sleeper], port: Number(process.env['PORT']) });
happened('listening');
