/**
 * Objects that count what was done to them. Each entry gets the next position, so that a doubled, lost or misplaced entry shows
 * as a position that is there twice, missing or out of order.
 */

import * as restate from '@restatedev/restate-sdk';

import { attemptName, tell } from '#ledger';

export interface Entry {
  readonly effect: string;
  readonly amount: number;
}

export interface Page {
  readonly count: number;
  readonly total: number;
}

export interface SlowEntry extends Entry {
  readonly ms: number;
}

const EMPTY: Page = { count: 0, total: 0 };

type Notes = Entry & { readonly name: string; readonly attempt: string };

/** Reads, tells and writes one entry; `between` runs while the object is held. */
async function enter(
  ctx: restate.ObjectContext,
  { name, effect, amount, attempt }: Notes,
  between?: () => Promise<void>,
): Promise<number> {
  const book = `${name}/${ctx.key}`;
  const page = (await ctx.get<Page>('page')) ?? EMPTY;
  const position = page.count + 1;
  if (between !== undefined) {
    await tell({ kind: 'entered', book, effect, position, amount, attempt });
    await between();
  }
  await tell({ kind: 'booked', book, effect, position, amount, attempt });
  ctx.set('page', { count: position, total: page.total + amount });
  return position;
}

function book<Name extends string>(name: Name) {
  return restate.object({
    name,
    options: { idempotencyRetention: { hours: 3 }, journalRetention: 0 },
    handlers: {
      add: (ctx: restate.ObjectContext, entry: Entry): Promise<number> =>
        enter(ctx, { ...entry, name, attempt: attemptName() }),

      slowAdd: (ctx: restate.ObjectContext, { ms, ...entry }: SlowEntry): Promise<number> => {
        const attempt = attemptName();
        return enter(ctx, { ...entry, name, attempt }, async () => {
          await step(ctx, { step: `${entry.effect}/held`, attempt });
          await ctx.sleep(ms);
        });
      },

      read: restate.handlers.object.shared(
        async (ctx: restate.ObjectSharedContext): Promise<Page> =>
          (await ctx.get<Page>('page')) ?? EMPTY,
      ),
    },
  });
}

/** A step whose result is chance, and what the handler learned of it. */
export async function step(
  ctx: restate.Context,
  { step, attempt }: { readonly step: string; readonly attempt: string },
): Promise<number> {
  const value = await ctx.run(step, async () => {
    const drawn = Math.floor(Math.random() * 1e9);
    await tell({ kind: 'executing', step, value: drawn, attempt });
    return drawn;
  });
  await tell({ kind: 'learned', step, value, attempt });
  return value;
}

export const account = book('Account');
export const bank = book('Bank');
export const receipts = book('Receipts');

/** Answers at once; tells nobody. One key of it in each partition is what a run looks at to see who serves. */
export const probe = restate.object({
  name: 'Probe',
  options: { journalRetention: 0 },
  handlers: {
    ping: (_ctx: restate.ObjectContext): Promise<string> => Promise.resolve('pong'),
  },
});
