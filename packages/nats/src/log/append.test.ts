import { describe, expect, it } from '@jest/globals';

import { Append, type AppendStep } from './append.js';
import { refusalOf } from './refusals.js';

const payload = Uint8Array.of(1, 2, 3);
const kinds = (steps: readonly AppendStep[]): string[] => steps.map(({ kind }) => kind);
const begun = (): Append => {
  const append = new Append(payload, 7, 0);
  expect(append.begin()).toEqual([{ kind: 'publish' }, { kind: 'wait', ms: 1_000 }]);
  return append;
};

describe('Append', () => {
  it('an acknowledgement of the expected place is the only one that counts', () => {
    expect(begun().answered({ kind: 'stored', sequence: 8 }, 5)).toEqual([
      { kind: 'settle', outcome: { kind: 'landed' } },
    ]);
    expect(begun().answered({ kind: 'stored', sequence: 9 }, 5)).toMatchObject([
      { kind: 'settle', outcome: { kind: 'broken' } },
    ]);
  });

  it('a refusal of the place is looked into, and nothing there is no proof', () => {
    const append = begun();
    expect(kinds(append.answered({ kind: 'wrong-last' }, 5))).toEqual(['read', 'wait']);
    expect(kinds(append.read('absent', 6))).toEqual(['wait']);
    expect(kinds(append.elapsed(200))).toEqual(['read', 'publish', 'wait']);
    expect(kinds(append.read('failed', 300))).toEqual(['wait']);
  });

  it('what stands in its place decides', () => {
    const outcome = (found: Uint8Array): unknown => {
      const append = begun();
      append.answered({ kind: 'wrong-last' }, 5);
      return append.read(found, 6);
    };
    expect(outcome(payload.slice())).toEqual([{ kind: 'settle', outcome: { kind: 'landed' } }]);
    expect(outcome(Uint8Array.of(1, 2, 4))).toEqual([
      { kind: 'settle', outcome: { kind: 'deposed' } },
    ]);
  });

  it('without an answer it looks and sends again, less and less often, and reports silence once', () => {
    const append = begun();
    const reports: unknown[] = [];
    for (let now = 1_000, round = 0; now < 60_000 && round < 1_000; round += 1) {
      const steps = append.elapsed(now);
      expect(kinds(steps)).toContain('publish');
      let waitMs = 0;
      // The last wait counts.
      for (const step of [...steps, ...append.read('failed', now)]) {
        if (step.kind === 'report') reports.push([now, step.health.kind]);
        if (step.kind === 'wait') waitMs = step.ms;
      }
      expect(waitMs).toBeGreaterThan(0);
      now += waitMs;
    }
    expect(reports).toEqual([[15_000, 'silent']]);
  });

  it('never reads twice at once', () => {
    const append = begun();
    expect(kinds(append.answered({ kind: 'wrong-last' }, 5))).toContain('read');
    expect(kinds(append.answered({ kind: 'wrong-last' }, 6))).not.toContain('read');
    expect(kinds(append.elapsed(900))).not.toContain('read');
  });

  it('a refusal for space is reported once, and it is not silence', () => {
    const append = begun();
    const refused = { kind: 'refused', why: 'full' } as const;
    expect(append.answered(refused, 5)[0]).toEqual({ kind: 'report', health: refused });
    for (let now = 1_000; now < 60_000; now += 1_000) {
      expect(kinds(append.elapsed(now))).not.toContain('report');
      expect(kinds(append.answered(refused, now))).toEqual(['wait']);
    }
  });
});

describe('refusalOf', () => {
  it.each([
    [{ code: 400, err_code: 10_071, description: 'wrong last sequence: 5' }, 'wrong-last'],
    [{ code: 503, err_code: 10_077, description: 'maximum bytes exceeded' }, 'refused'],
    [
      { code: 400, err_code: 10_054, description: 'message size exceeds maximum allowed' },
      'refused',
    ],
    [
      { code: 500, err_code: 10_047, description: 'insufficient storage resources available' },
      'refused',
    ],
    [
      { code: 503, err_code: 10_008, description: 'JetStream system temporarily unavailable' },
      'unavailable',
    ],
    [{ code: 404, err_code: 10_059, description: 'stream not found' }, 'unavailable'],
  ])('%j is %s', (error, kind) => {
    expect(refusalOf(error).kind).toBe(kind);
  });
});
