import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { COMMAND_CODE, invocationContentType } from '@engine/service-protocol';
import { fromHex, toHex } from '@engine/stdx';
import type { AttemptInput } from './attempt-io.js';
import { notified, valueOf, Driver } from './testing/driver.js';

describe('totality', () => {
  const frame = fc
    .tuple(
      fc.oneof(
        fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 0x400, 0x401, 0x8011, 0xfbff, 0xfc00),
        fc.constantFrom(...Object.values(COMMAND_CODE)),
      ),
      fc.boolean(),
      fc.oneof(
        fc.constantFrom(
          '',
          '5801',
          '72020a00',
          '080172023432',
          '0a0101',
          '22030a0101',
          '0a030a0101',
        ),
        fc.uint8Array({ maxLength: 12 }).map(toHex),
      ),
    )
    .map(([type, ack, payload]) =>
      fromHex(
        type.toString(16).padStart(4, '0') +
          (ack ? '8000' : '0000') +
          (payload.length / 2).toString(16).padStart(8, '0') +
          payload,
      ),
    );
  const head = fc.record({
    kind: fc.constant('response-head' as const),
    status: fc.constantFrom(200, 200, 200, 404, 429),
    contentType: fc.constantFrom(undefined, ...[6, 6, 6, 7].map(invocationContentType)),
    retryAfter: fc.constantFrom(undefined, '1'),
    now: fc.constant(0),
  });
  const data = fc.record({
    kind: fc.constant('response-data' as const),
    chunk: fc.oneof(frame, frame, fc.uint8Array({ maxLength: 20 })),
  });
  const input: fc.Arbitrary<AttemptInput> = fc.oneof(
    { weight: 2, arbitrary: head },
    { weight: 8, arbitrary: data },
    fc.record({
      kind: fc.constant('notification-stored' as const),
      index: fc.nat(10),
      entry: fc.constantFrom(notified('run', 1, valueOf('1')), notified('sleep', 2)),
    }),
    fc.constantFrom<AttemptInput>(
      { kind: 'response-end' },
      { kind: 'transport-error', message: 'x' },
      { kind: 'command-stored', commandIndex: 1 },
      { kind: 'inactivity-timeout' },
      { kind: 'inactivity-timeout' },
      { kind: 'abort-timeout' },
    ),
  );

  it('any inputs in any order: no error, one end, one close, no write after it', () => {
    const settings = fc.record({
      protocolVersion: fc.constantFrom(5, 6, 7),
      mode: fc.constantFrom('bidi' as const, 'request-response' as const),
    });
    const run = fc.property(settings, fc.array(input, { maxLength: 30 }), (more, inputs) => {
      const driver = new Driver(more);
      for (const each of inputs) driver.feed(each);
      const kinds = driver.outputs.map(({ kind }) => kind);
      const ends = kinds.filter((kind) => ['suspended', 'ended', 'failed'].includes(kind));
      const closes = kinds.filter((kind) => kind === 'close-request');
      expect(ends).toHaveLength(driver.attempt.isFinished ? 1 : 0);
      expect(closes.length).toBeLessThanOrEqual(1);
      if (driver.attempt.isFinished) expect(closes).toHaveLength(1);
      const closedAt = kinds.indexOf('close-request');
      if (closedAt >= 0) expect(kinds.slice(closedAt)).not.toContain('write');
    });
    fc.assert(run, { numRuns: 500 });
  });
});
