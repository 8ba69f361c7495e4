/** Plain services: steps, failures, sends, and ids that are used again. */

import { RetryableError, TerminalError, type Json } from '../deployment/handler-context.js';
import type { Lab } from './lab.js';
import {
  BIG_TEXT_LENGTH,
  number,
  service,
  text,
  type ScriptedService,
} from './scripted-service.js';

export function plainServices(lab: Lab): readonly ScriptedService[] {
  return [
    service('Echo', {
      *echo(_ctx, input) {
        return input;
      },
      *big(ctx) {
        const made = yield* ctx.wait(ctx.run('make', () => 'x'.repeat(BIG_TEXT_LENGTH)));
        return String(made);
      },
    }),
    service('Steps', {
      *run(ctx, input) {
        const done: Json[] = [];
        for (let step = 0; step < number(input, 'count'); step += 1) {
          done.push(yield* ctx.wait(ctx.run(`step-${String(step)}`, () => step)));
        }
        return done;
      },
      /** Counts how often it really ran. */
      *single(ctx, input) {
        return yield* ctx.wait(ctx.run('count', () => lab.try(text(input, 'tag'))));
      },
      *once(ctx, input) {
        const tag = text(input, 'tag');
        const note = ctx.run('note', () => {
          lab.execute(tag, ctx.invocationId);
          return ctx.invocationId;
        });
        yield* ctx.wait(ctx.sleep(number(input, 'sleepMs')));
        return yield* ctx.wait(note);
      },
    }),
    service('Fails', {
      *terminal(ctx, input) {
        yield* ctx.wait(ctx.run('before', () => true));
        throw new TerminalError(number(input, 'code'), text(input, 'message'));
      },
      *flaky(ctx, input) {
        const tag = text(input, 'tag');
        return yield* ctx.wait(
          ctx.run('flaky', () => {
            const tries = lab.try(tag);
            if (tries > number(input, 'failures')) return 'at last';
            throw new RetryableError('not yet', tries % 2 === 0 ? { delayMs: 40 } : {});
          }),
        );
      },
      *throwing(ctx, input) {
        const kept = yield* ctx.wait(ctx.run('first', () => 1));
        if (lab.try(text(input, 'tag')) <= number(input, 'failures')) {
          throw new RetryableError('user code threw');
        }
        return kept;
      },
      *pausing(ctx, input) {
        const isFirst = lab.try(text(input, 'tag')) === 1;
        if (isFirst) throw new RetryableError('asks for a pause', { behavior: 'pause' });
        yield* ctx.wait(ctx.sleep(number(input, 'ms')));
        return 'slept';
      },
      *failing(ctx, input) {
        const kept = yield* ctx.wait(ctx.run('first', () => 1));
        // Versions that cannot say so just try again.
        const isFirst = lab.try(text(input, 'tag')) === 1;
        if (isFirst) throw new RetryableError('gives up', { behavior: 'fail' });
        return kept;
      },
      *rescued(ctx, input) {
        const call = ctx.call({ service: 'Fails', handler: 'terminal' }, input);
        try {
          yield* ctx.wait(call.result);
          return 'no failure';
        } catch (error) {
          if (!(error instanceof TerminalError)) throw error;
          if (error.failure.message === 'Cancelled') throw error;
          return { code: error.failure.code, message: error.failure.message };
        }
      },
    }),
    service('Fan', {
      *out(ctx, input) {
        const key = text(input, 'key');
        for (let sequence = 0; sequence < number(input, 'count'); sequence += 1) {
          const from = text(input, 'from');
          ctx.send({ service: 'Log', handler: 'append', key }, { from, sequence, notBefore: 0 });
          if (sequence % 3 === 2) yield* ctx.wait(ctx.run('pause', () => sequence));
        }
        return null;
      },
      *later(ctx, input) {
        const delayMs = number(input, 'delayMs');
        const notBefore = yield* ctx.wait(ctx.run('when', () => ctx.now() + delayMs));
        const callee = { service: 'Log', handler: 'append', key: text(input, 'key') };
        const wish = { from: text(input, 'from'), sequence: 0, notBefore };
        return yield* ctx.wait(ctx.send(callee, wish, delayMs));
      },
    }),
  ];
}

/** Ids come back: a call under a known key runs again when the result is no longer kept. */
export function briefServices(): readonly ScriptedService[] {
  const brief = service('Brief', {
    *nap(ctx, input) {
      yield* ctx.wait(ctx.sleep(number(input, 'ms')));
      return 'slept';
    },
  });
  const caller = service('BriefCaller', {
    *call(ctx, input) {
      const idempotencyKey = text(input, 'tag');
      const callee = { service: 'Brief', handler: 'nap', idempotencyKey };
      const results: Json[] = [];
      for (let round = 0; round < 3; round += 1) {
        results.push(yield* ctx.wait(ctx.call(callee, input).result));
        yield* ctx.wait(ctx.sleep(number(input, 'ms') * 2));
      }
      return results;
    },
  });
  return [{ ...brief, isBrief: true }, caller];
}
