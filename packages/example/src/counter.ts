import {
  handlers,
  object,
  type ObjectContext,
  type ObjectSharedContext,
} from '@restatedev/restate-sdk';

/** A virtual object: each key has its own state, and one call at a time may change it. */
export const counter = object({
  name: 'Counter',
  handlers: {
    add: async (ctx: ObjectContext, amount: number): Promise<number> => {
      const total = ((await ctx.get<number>('total')) ?? 0) + amount;
      ctx.set('total', total);
      return total;
    },

    /** Shared: reads beside a running `add`. */
    total: handlers.object.shared(
      async (ctx: ObjectSharedContext): Promise<number> => (await ctx.get<number>('total')) ?? 0,
    ),
  },
});
