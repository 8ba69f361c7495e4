import { EMPTY_SCHEMA, SchemaLookup } from '@engine/domain';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SchemaNews } from './schema-news.js';
import { ask, startIngress, testSchema, type TestIngress } from './test-fixture.js';

let started: TestIngress | undefined;
afterEach(async () => {
  await started?.[Symbol.asyncDispose]();
  started = undefined;
});

describe('SchemaNews', () => {
  it('gives everybody a read that began after they asked, one at a time', async () => {
    const timers: (() => void)[] = [];
    const reads: (() => void)[] = [];
    const scheduler = {
      immediate: (fn: () => void): void => {
        fn();
      },
      after: (_ms: number, fn: () => void) => {
        timers.push(fn);
        return { cancel: () => undefined };
      },
    };
    const news = new SchemaNews(
      () => new Promise<void>((resolve) => reads.push(resolve)),
      scheduler,
    );
    const over: string[] = [];
    const note = (who: string): Promise<unknown> => news.caughtUp().then(() => over.push(who));
    const first = note('first');
    const later = [note('second'), note('third')];
    expect(reads).toHaveLength(1);
    reads[0]?.();
    await first;
    expect([over, reads.length]).toEqual([['first'], 1]);
    timers.shift()?.();
    expect(reads).toHaveLength(2);
    reads[1]?.();
    await Promise.all(later);
    timers.shift()?.();
    expect(reads).toHaveLength(2);
    const again = note('fourth');
    expect(reads).toHaveLength(3);
    reads[2]?.();
    await again;
  });
});

describe('a name that is not known here yet', () => {
  const empty = new SchemaLookup(EMPTY_SCHEMA, {} as never);

  it('is looked for before it is called unknown', async () => {
    let schema = empty;
    let reads = 0;
    started = await startIngress(
      {},
      {
        schema: () => schema,
        catchUp: () => {
          reads += 1;
          schema = testSchema();
          return Promise.resolve();
        },
      },
    );
    const { port } = started;
    const body = '"a"';
    const headers = [['content-type', 'application/json']] as const;
    const question = { method: 'POST', path: '/Greeter/greet', headers, body };
    expect(await ask(port, question)).toMatchObject({ status: 200, text: body });
    expect(await ask(port, question)).toMatchObject({ status: 200 });
    expect(reads).toBe(1);
    expect(await ask(port, { ...question, path: '/Greeter/nobody' })).toMatchObject({
      status: 404,
    });
    expect(reads).toBe(2);
  });

  it('is unknown when the newest schema cannot be read', async () => {
    started = await startIngress(
      {},
      { schema: () => empty, catchUp: () => Promise.reject(new Error('no store')) },
    );
    expect(await ask(started.port, { path: '/Greeter/greet' })).toMatchObject({ status: 404 });
  });
});
