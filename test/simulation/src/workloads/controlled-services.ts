/** Services for work that is paused, restarted, purged, or whose state is replaced from outside. */

import type { Json } from '../deployment/handler-context.js';
import type { Lab } from './lab.js';
import {
  exclusive,
  number,
  service,
  text,
  type Fields,
  type ScriptedService,
} from './scripted-service.js';

export function controlledServices(lab: Lab): readonly ScriptedService[] {
  return [
    service('Again', {
      /** Each step says how often it ran, under a name that follows from the randomness: a replay with another seed differs. */
      *steps(ctx, input) {
        const done: Json[] = [];
        for (let step = 0; step < number(input, 'count'); step += 1) {
          const tag = `${text(input, 'tag')}/${String(step)}`;
          const name = `step-${String(step)}-${ctx.randomText()}`;
          done.push(yield* ctx.wait(ctx.run(name, () => lab.try(tag))));
        }
        return done;
      },
      *count(ctx, input) {
        return yield* ctx.wait(ctx.run('count', () => lab.try(text(input, 'tag'))));
      },
    }),
    {
      name: 'Slate',
      type: 'virtual-object',
      handlers: {
        mark: exclusive(function* mark(ctx, input) {
          const marks = ((yield* ctx.get('marks')) ?? []) as readonly Json[];
          const ms = number(input, 'sleepMs');
          if (ms > 0) yield* ctx.wait(ctx.sleep(ms));
          ctx.set('marks', [...marks, number(input, 'mark')]);
          return null;
        }),
        look: exclusive(function* look(ctx) {
          const found: Record<string, Json> = {};
          for (const key of yield* ctx.stateKeys()) {
            const value = yield* ctx.get(key);
            found[key] = typeof value === 'string' ? value.length : value;
          }
          return found satisfies Fields;
        }),
      },
    },
  ];
}
