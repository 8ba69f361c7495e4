/**
 * One service for each thing that a handler can do, hosted in the way that $HOSTING names: `http2`, `http1` or `lambda`, on $PORT,
 * for callers that sign with the key $IDENTITY_KEY, if there is one. What really happened is told to the parent:
 * `{ happened: name }` each time a line of code ran.
 */

import { createServer } from 'node:http';

import { LambdaStandIn } from '@engine/lambda/testing';
import * as restate from '@restatedev/restate-sdk';
import { createEndpointHandler } from '@restatedev/restate-sdk/lambda';

import { gate, happened } from '#parent';

const attempts = new Map<string, number>();

const every = restate.service({
  name: 'Every',
  handlers: {
    run: async (ctx: restate.Context, name: string): Promise<number> => {
      const first = await ctx.run('first', () => {
        happened(`${name}/first`);
        return 40;
      });
      const second = await ctx.run('second', () => {
        happened(`${name}/second`);
        return 2;
      });
      return first + second;
    },
    sleep: async (ctx: restate.Context, { name, ms }: Nap): Promise<string> => {
      happened(`${name}/before`);
      await ctx.sleep(ms);
      happened(`${name}/after`);
      return 'slept';
    },
    call: async (ctx: restate.Context, name: string): Promise<string> => {
      const [one, two] = await Promise.all([
        ctx.serviceClient<Every>({ name: 'Every' }).run(name),
        ctx.objectClient<Tally>({ name: 'Tally' }, name).add(7),
      ]);
      return `${String(one)} and ${String(two)}`;
    },
    send: (ctx: restate.Context, name: string): Promise<number> => {
      const now = Date.now();
      const delay = { milliseconds: 400 };
      ctx
        .serviceSendClient<Every>({ name: 'Every' })
        .note(`${name}/later`, restate.rpc.sendOpts({ delay }));
      ctx.serviceSendClient<Every>({ name: 'Every' }).note(`${name}/now`);
      return Promise.resolve(now);
    },
    note: (_ctx: restate.Context, name: string): Promise<void> => {
      happened(`${name}@${String(Date.now())}`);
      return Promise.resolve();
    },
    awake: async (ctx: restate.Context, name: string): Promise<string> => {
      await ctx.run('prepare', () => {
        happened(`${name}/prepare`);
      });
      const { id, promise } = ctx.awakeable<string>();
      await ctx.run('tell', () => {
        happened(`${name}/id/${id}`);
      });
      return `got ${await promise}`;
    },
    cancelled: async (ctx: restate.Context, name: string): Promise<string> => {
      happened(`${name}/waits`);
      try {
        await ctx.sleep(3_600_000);
        return 'slept';
      } catch (error) {
        if (!(error instanceof restate.CancelledError)) throw error;
        const undone = await ctx.run('undo', () => 'undone');
        return `cancelled, ${undone}`;
      }
    },
    flaky: async (ctx: restate.Context, name: string): Promise<number> => {
      await ctx.run('once', () => {
        happened(`${name}/once`);
      });
      const attempt = (attempts.get(name) ?? 0) + 1;
      attempts.set(name, attempt);
      if (attempt < 6) throw new Error(`not at attempt ${String(attempt)}`);
      return attempt;
    },
    refuse: (): Promise<never> => {
      throw new restate.TerminalError('refused', { errorCode: 418 });
    },
    large: async (ctx: restate.Context, content: string): Promise<string> => {
      const doubled = await ctx.run('double', () => content + content);
      await ctx.sleep(1);
      return doubled;
    },
    open: async (ctx: restate.Context, name: string): Promise<string> => {
      await ctx.run('first', () => {
        happened(`${name}/first`);
      });
      await ctx.run('second', async () => {
        happened(`${name}/second`);
        await gate(name);
      });
      return 'through';
    },
  },
});

interface Nap {
  readonly name: string;
  readonly ms: number;
}

const tally = restate.object({
  name: 'Tally',
  handlers: {
    add: async (ctx: restate.ObjectContext, amount: number): Promise<number> => {
      const total = ((await ctx.get<number>('total')) ?? 0) + amount;
      ctx.set('total', total);
      return total;
    },
    clear: async (ctx: restate.ObjectContext): Promise<readonly string[]> => {
      const keys = await ctx.stateKeys();
      ctx.clearAll();
      return keys;
    },
  },
});

type Every = typeof every;
type Tally = typeof tally;

const port = Number(process.env['PORT']);
const identityKey = process.env['IDENTITY_KEY'];
const endpoint = {
  services: [every, tally],
  ...(identityKey === undefined ? {} : { identityKeys: [identityKey] }),
};

async function host(hosting: string | undefined): Promise<void> {
  switch (hosting) {
    case 'http2':
      await restate.serve({ ...endpoint, port });
      return;
    case 'http1': {
      const server = createServer(restate.createEndpointHandler(endpoint));
      await new Promise<void>((resolve) => {
        server.listen(port, '127.0.0.1', resolve);
      });
      return;
    }
    case 'lambda': {
      const standIn = await LambdaStandIn.start(port);
      standIn.deploy(String(process.env['FUNCTION_ARN']), createEndpointHandler(endpoint));
      return;
    }
    default:
      throw new Error(`no hosting ${String(hosting)}`);
  }
}

await host(process.env['HOSTING']);
happened('listening');
