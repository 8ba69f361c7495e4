/** Services that wait: for time, for answers, for signals, for several things at once. */

import {
  TerminalError,
  type HandlerContext,
  type Json,
  type Wait,
} from '../deployment/handler-context.js';
import type { Lab } from './lab.js';
import { fields, number, service, text, type ScriptedService } from './scripted-service.js';

export function waitingServices(lab: Lab): readonly ScriptedService[] {
  return [
    service('Sleeper', {
      *nap(ctx, input) {
        const naps = (fields(input)['naps'] as readonly number[]).map((ms) => ctx.sleep(ms));
        yield* ctx.until('all', naps);
        for (const nap of naps) yield* ctx.wait(nap);
        return naps.length;
      },
      *patient(ctx, input) {
        // Longer than anybody wants to wait: somebody cancels or kills it.
        yield* ctx.wait(ctx.sleep(number(input, 'ms')));
        return 'slept';
      },
      *delegate(ctx, input) {
        const { result } = ctx.call({ service: 'Sleeper', handler: 'patient' }, input);
        try {
          return yield* ctx.wait(result);
        } catch (error) {
          if (error instanceof TerminalError) yield* ctx.wait(ctx.run('clean up', () => true));
          throw error;
        }
      },
    }),
    service('Awaiter', {
      *wait(ctx, input) {
        const tag = text(input, 'tag');
        const { id, result } = ctx.awakeable();
        yield* ctx.wait(
          ctx.run('publish', () => {
            lab.post(tag, id);
            return id;
          }),
        );
        return yield* ctx.wait(result);
      },
      *resolve(ctx, input) {
        const id = yield* ctx.wait(ctx.run('id', () => text(input, 'id')));
        ctx.completeAwakeable(String(id), fields(input)['value'] ?? null);
        return null;
      },
      *listen(ctx, input) {
        const tag = text(input, 'tag');
        yield* ctx.wait(
          ctx.run('publish', () => {
            lab.post(tag, ctx.invocationId);
            return true;
          }),
        );
        const heard: Json[] = [];
        while (heard.length < number(input, 'count'))
          heard.push(yield* ctx.wait(ctx.signal('word')));
        return heard;
      },
      *speak(ctx, input) {
        for (const word of fields(input)['words'] as readonly Json[]) {
          ctx.sendSignal(text(input, 'target'), 'word', word);
          yield* ctx.wait(ctx.run('breath', () => word));
        }
        return null;
      },
      *select(ctx, input) {
        return yield* select(ctx, input);
      },
      *attach(ctx, input) {
        return yield* ctx.wait(ctx.attach(text(input, 'id')));
      },
      *output(ctx, input) {
        return yield* ctx.wait(ctx.output(text(input, 'id')));
      },
    }),
  ];
}

/** Waits on trees of calls and sleeps. */
function* select(ctx: HandlerContext, input: Json): Wait<Json> {
  const ms = number(input, 'ms');
  const quick = ctx.call({ service: 'Echo', handler: 'echo' }, 'quick').result;
  const failing = ctx.call(
    { service: 'Fails', handler: 'terminal' },
    { code: 418, message: 'no' },
  ).result;
  const slow = ctx.sleep(ms);
  yield* ctx.until('any-success', [failing, quick]);
  const value = yield* ctx.wait(quick);
  yield* ctx.until('all-or-failure', [slow, failing]);
  yield* ctx.until('first', [slow, failing]);
  yield* ctx.until('all', [slow, failing]);
  yield* ctx.wait(slow);
  return value;
}
