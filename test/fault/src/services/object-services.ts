/** The objects, as a process of their own: `node object-services.ts` on $PORT. */

import * as restate from '@restatedev/restate-sdk';

import { account, bank, probe, receipts } from '#book';
import { listening } from '#ledger';

await restate.serve({
  services: [account, bank, receipts, probe],
  port: Number(process.env['PORT']),
});
listening();
