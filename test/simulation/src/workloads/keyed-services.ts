/** Objects and workflows: state, turns, promises. */

import { TerminalError, type Json } from '../deployment/handler-context.js';
import type { Lab } from './lab.js';
import {
  BIG_TEXT_LENGTH,
  exclusive,
  fields,
  number,
  shared,
  text,
  type ScriptedService,
} from './scripted-service.js';

export function keyedServices(lab: Lab): readonly ScriptedService[] {
  return [
    counterService('Counter', false),
    counterService('LazyCounter', true),
    logService(lab),
    keeperService(),
    holderService(),
    chainService(),
    flowService(),
  ];
}

function counterService(name: string, isLazy: boolean): ScriptedService {
  return {
    name,
    type: 'virtual-object',
    isLazy,
    handlers: {
      add: exclusive(function* add(ctx, input) {
        const before = Number((yield* ctx.get('count')) ?? 0);
        const ms = number(input, 'sleepMs');
        if (ms > 0) yield* ctx.wait(ctx.sleep(ms));
        if (number(input, 'steps') > 0) yield* ctx.wait(ctx.run('think', () => before));
        ctx.set('count', before + 1);
        return { before, after: before + 1 };
      }),
      read: shared(function* read(ctx) {
        return (yield* ctx.get('count')) ?? 0;
      }),
    },
  };
}

function logService(lab: Lab): ScriptedService {
  return {
    name: 'Log',
    type: 'virtual-object',
    handlers: {
      append: exclusive(function* append(ctx, input) {
        const notBefore = number(input, 'notBefore');
        lab.expectTime(ctx.now(), notBefore, () => `${ctx.invocationId} started before its time`);
        const lines = ((yield* ctx.get('lines')) ?? []) as readonly Json[];
        const line = `${text(input, 'from')}#${text(input, 'sequence')}`;
        yield* ctx.wait(ctx.run('write', () => line));
        ctx.set('lines', [...lines, line]);
        return lines.length;
      }),
      read: shared(function* read(ctx) {
        return (yield* ctx.get('lines')) ?? [];
      }),
    },
  };
}

function keeperService(): ScriptedService {
  return {
    name: 'Keeper',
    type: 'virtual-object',
    handlers: {
      /** Leaves exactly one key behind, whatever was there before. */
      tidy: exclusive(function* tidy(ctx, input) {
        ctx.set('a', 1);
        ctx.set('b', 'x'.repeat(BIG_TEXT_LENGTH));
        const big = String(yield* ctx.get('b')).length;
        const keys = yield* ctx.stateKeys();
        ctx.clear('a');
        yield* ctx.wait(ctx.sleep(number(input, 'sleepMs')));
        ctx.set('left', text(input, 'tag'));
        ctx.clear('b');
        return { big, keys, left: yield* ctx.get('left'), a: yield* ctx.get('a') };
      }),
      look: shared(function* look(ctx) {
        return yield* ctx.stateKeys();
      }),
    },
  };
}

function holderService(): ScriptedService {
  return {
    name: 'Holder',
    type: 'virtual-object',
    handlers: {
      hold: exclusive(function* hold(ctx, input) {
        yield* ctx.wait(ctx.sleep(number(input, 'ms')));
        return 'held';
      }),
      call: exclusive(function* call(ctx, input) {
        const callee = { service: 'Sleeper', handler: 'patient' };
        return yield* ctx.wait(ctx.call(callee, { ms: number(input, 'ms') }).result);
      }),
    },
  };
}

function chainService(): ScriptedService {
  return {
    name: 'Chain',
    type: 'virtual-object',
    handlers: {
      /** One more than what the next link says. Keys differ, so links live in different partitions. */
      link: exclusive(function* link(ctx, input) {
        const keys = fields(input)['keys'] as readonly string[];
        const [next, ...rest] = keys;
        if (next === undefined) return 0;
        const callee = { service: 'Chain', handler: 'link', key: next };
        const below = yield* ctx.wait(ctx.call(callee, { keys: rest }).result);
        return Number(below) + 1;
      }),
    },
  };
}

function flowService(): ScriptedService {
  return {
    name: 'Flow',
    type: 'workflow',
    handlers: {
      run: {
        type: 'workflow',
        run: function* run(ctx, input) {
          ctx.set('stage', 'waiting');
          const go = yield* ctx.wait(ctx.promise('go'));
          ctx.set('stage', 'gone');
          yield* ctx.wait(ctx.sleep(number(input, 'ms')));
          return { go, stage: yield* ctx.get('stage') };
        },
      },
      approve: shared(function* approve(ctx, input) {
        try {
          yield* ctx.wait(ctx.completePromise('go', text(input, 'value')));
          return 'approved';
        } catch (error) {
          if (error instanceof TerminalError && error.failure.code === 409) return 'late';
          throw error;
        }
      }),
      peek: shared(function* peek(ctx) {
        return yield* ctx.wait(ctx.peekPromise('go'));
      }),
    },
  };
}
