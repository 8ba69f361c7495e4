/** The handlers that call, send, sleep and wait, as a process of their own: `node journey-services.ts` on $PORT. */

import * as restate from '@restatedev/restate-sdk';

import { step, type account, type bank, type receipts } from '#book';
import { attemptName, listening, tell } from '#ledger';

type Account = typeof account;
type Bank = typeof bank;
type Receipts = typeof receipts;

const ACCOUNT: Account = { name: 'Account' };
const BANK: Bank = { name: 'Bank' };
const RECEIPTS: Receipts = { name: 'Receipts' };

/** Of the steps of a flaky handler: the attempt fails behind it, and the next one replays it. */
const FAILURE_SHARE = 0.15;

interface Transfer {
  readonly op: string;
  readonly from: string;
  readonly to: string;
  readonly amount: number;
  readonly isOneWay: boolean;
}

interface StepsInput {
  readonly op: string;
  readonly count: number;
  readonly key: string;
  readonly isFlaky: boolean;
}

interface Spread {
  readonly op: string;
  readonly keys: readonly string[];
  readonly amount: number;
  readonly delayMs: number;
}

const journey = restate.service({
  name: 'Journey',
  options: {
    idempotencyRetention: { hours: 3 },
    journalRetention: 0,
    retryPolicy: { initialInterval: 50, exponentiationFactor: 2, maxInterval: { seconds: 2 } },
  },
  handlers: {
    transfer: async (ctx: restate.Context, move: Transfer): Promise<string> => {
      const { op, amount } = move;
      await ctx.objectClient<Bank>(BANK, move.from).add({ effect: `${op}/from`, amount: -amount });
      const arrival = { effect: `${op}/to`, amount };
      if (move.isOneWay) ctx.objectSendClient<Bank>(BANK, move.to).add(arrival);
      else await ctx.objectClient<Bank>(BANK, move.to).add(arrival);
      return 'moved';
    },

    steps: async (
      ctx: restate.Context,
      { op, count, key, isFlaky }: StepsInput,
    ): Promise<readonly number[]> => {
      const attempt = attemptName();
      const values: number[] = [];
      for (let index = 0; index < count; index += 1) {
        const effect = `${op}/${String(index)}`;
        const amount = await step(ctx, { step: effect, attempt });
        if (isFlaky && Math.random() < FAILURE_SHARE) throw new Error('a bad moment');
        await ctx.objectClient<Receipts>(RECEIPTS, key).add({ effect, amount });
        values.push(amount);
      }
      return values;
    },

    nap: async (ctx: restate.Context, { op, ms }: { op: string; ms: number }): Promise<string> => {
      const from = await ctx.run('from', () => Date.now());
      await ctx.sleep(ms);
      await tell({ kind: 'woke', op, from, ms, at: Date.now() });
      return 'slept';
    },

    wait: async (ctx: restate.Context, { op }: { op: string }): Promise<string> => {
      const { id, promise } = ctx.awakeable<string>();
      await ctx.run('tell', () => tell({ kind: 'awaits', op, awakeable: id }));
      const token = await promise;
      await tell({ kind: 'woken', op, token });
      return token;
    },

    spread: async (
      ctx: restate.Context,
      { op, keys, amount, delayMs }: Spread,
    ): Promise<number> => {
      for (const [index, key] of keys.entries()) {
        const client = ctx.objectSendClient<Account>(ACCOUNT, key);
        const entry = { effect: `${op}/${String(index)}`, amount };
        // The first goes at once, the others perhaps later.
        if (delayMs === 0 || index === 0) client.add(entry);
        else client.add(entry, restate.rpc.sendOpts({ delay: { milliseconds: delayMs } }));
      }
      return Promise.resolve(keys.length);
    },
  },
});

const order = restate.workflow({
  name: 'Order',
  options: { workflowRetention: { hours: 3 }, journalRetention: 0 },
  handlers: {
    run: async (ctx: restate.WorkflowContext, { key }: { key: string }): Promise<string> => {
      const attempt = attemptName();
      const effect = `${ctx.key}/paid`;
      const amount = await step(ctx, { step: effect, attempt });
      const token = await ctx.promise<string>('token');
      await ctx.objectClient<Receipts>(RECEIPTS, key).add({ effect, amount });
      await tell({ kind: 'woken', op: ctx.key, token });
      return token;
    },
    approve: restate.handlers.workflow.shared(
      async (ctx: restate.WorkflowSharedContext, token: string): Promise<void> => {
        await ctx.promise<string>('token').resolve(token);
      },
    ),
  },
});

await restate.serve({ services: [journey, order], port: Number(process.env['PORT']) });
listening();
