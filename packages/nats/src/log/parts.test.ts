import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadHashes, toPartitionId, type Hashes } from '@engine/domain';
import { LOG_START, RecordWriter, type LogPosition, type LogRecord } from '@engine/log';
import * as fc from 'fast-check';

import {
  decodeMessage,
  encodeAnnouncement,
  encodeRecord,
  isLastPart,
  isLogBreak,
  RecordAssembler,
  type MessageHead,
} from './parts.js';
import { searchPlace, type PlaceFound } from './place-search.js';

const identity = { cluster: 'test', partition: toPartitionId(3), incarnation: 1n };
const PAYLOAD_BYTES_MAX = 300;
let hashes: Hashes;

beforeAll(async () => {
  hashes = await loadHashes();
});

/** One leadership: the sizes of its records, and how many parts of a last one it got in before it died. */
interface Epoch {
  readonly sizes: readonly number[];
  readonly tornParts: number;
}

const epochs: fc.Arbitrary<Epoch[]> = fc.array(
  fc.record({
    sizes: fc.array(fc.integer({ min: 0, max: 1_500 }), { maxLength: 6 }),
    tornParts: fc.integer({ min: 0, max: 3 }),
  }),
  { minLength: 1, maxLength: 5 },
);

/** The messages that such leaders leave, and the records that readers must see. */
function writeLog(list: readonly Epoch[]): { payloads: Uint8Array[]; records: LogRecord[] } {
  const payloads: Uint8Array[] = [];
  const records: LogRecord[] = [];
  let after: LogPosition = LOG_START;
  for (const [index, { sizes, tornParts }] of list.entries()) {
    const epoch = BigInt(index + 1);
    const { record, payload } = encodeAnnouncement(
      { after, epoch, node: 'x' },
      identity,
      hashes.xxh3,
    );
    payloads.push(payload);
    records.push(record);
    const writer = new RecordWriter(record, hashes.xxh3);
    for (const size of sizes) {
      const next = writer.next({ count: size, bytes: new Uint8Array(size).fill(size) });
      payloads.push(...encodeRecord(next, PAYLOAD_BYTES_MAX));
      records.push(next);
    }
    after = writer.last;
    const torn = writer.next({ count: 1, bytes: new Uint8Array(1_000) });
    payloads.push(...encodeRecord(torn, PAYLOAD_BYTES_MAX).slice(0, tornParts));
  }
  return { payloads, records };
}

const heads = (payloads: readonly Uint8Array[]): MessageHead[] => payloads.map(decodeMessage);

/** Runs a search over messages that stand from `first` on. */
function search(
  all: readonly MessageHead[],
  first: number,
  from: LogPosition,
): { found: PlaceFound; reads: number } {
  const run = searchPlace({ first, last: all.length }, from);
  let [step, reads] = [run.next(), 0];
  while (!step.done) {
    reads += 1;
    step = run.next(step.value < first ? undefined : all[step.value - 1]);
  }
  return { found: step.value, reads };
}

describe('records as messages', () => {
  it('come back as they were, whatever leaders left behind them', () => {
    fc.assert(
      fc.property(epochs, (list) => {
        const { payloads, records } = writeLog(list);
        const assembler = new RecordAssembler({ identity, checksum: hashes.xxh3, from: LOG_START });
        const seen: unknown[] = [];
        for (const payload of payloads) {
          expect(payload.length).toBeLessThanOrEqual(PAYLOAD_BYTES_MAX);
          const taken = assembler.take(payload);
          expect(isLogBreak(taken)).toBe(false);
          if (taken !== undefined) seen.push(taken);
        }
        expect(seen).toEqual(records);
      }),
    );
  });

  it('a message that is missing, doubled, swapped or damaged is never passed over', () => {
    fc.assert(
      fc.property(
        epochs,
        fc.nat(),
        fc.constantFrom('missing', 'doubled', 'swapped', 'damaged'),
        (list, at, fault) => {
          const { payloads, records } = writeLog(list);
          const broken = [...payloads];
          const place = at % payloads.length;
          const victim = payloads[place] as Uint8Array;
          if (fault === 'missing') broken.splice(place, 1);
          if (fault === 'doubled') broken.splice(place, 0, victim);
          if (fault === 'swapped')
            broken.splice(place, 2, ...broken.slice(place, place + 2).reverse());
          if (fault === 'damaged')
            broken[place] = victim.map((byte, i) => (i === at % victim.length ? byte ^ 4 : byte));
          const assembler = new RecordAssembler({
            identity,
            checksum: hashes.xxh3,
            from: LOG_START,
          });
          const seen: unknown[] = [];
          for (const payload of broken) {
            let taken: ReturnType<RecordAssembler['take']>;
            try {
              taken = assembler.take(payload);
            } catch {
              break; // A format that grew by the damage.
            }
            if (isLogBreak(taken)) break;
            if (taken !== undefined) seen.push(taken);
          }
          // What was seen is a beginning of the history: nothing else ever takes effect.
          expect(seen).toEqual(records.slice(0, seen.length));
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe('the place of a position', () => {
  it('is behind the last part of its record, in a few reads', () => {
    fc.assert(
      fc.property(epochs, fc.nat(), (list, pick) => {
        const { payloads, records } = writeLog(list);
        const all = heads(payloads);
        const from = records[pick % records.length] as LogRecord;
        const isThis = (head: MessageHead): boolean =>
          head.chain === from.chain && isLastPart(head);
        const { found, reads } = search(all, 1, from);
        expect(found).toEqual({ kind: 'place', next: all.findLastIndex(isThis) + 2 });
        expect(reads).toBeLessThanOrEqual(4 + Math.ceil(Math.log2(all.length + 1)));
        expect(search(all, 1, { ...from, chain: from.chain ^ 1n }).found.kind).toBe('diverged');
      }),
    );
  });

  it('is told from one that was trimmed, one that is ahead, and the start', () => {
    fc.assert(
      fc.property(epochs, fc.nat(), (list, pick) => {
        const { payloads, records } = writeLog(list);
        const all = heads(payloads);
        expect(search(all, 1, LOG_START).found).toEqual({ kind: 'place', next: 1 });
        const last = records.at(-1) as LogRecord;
        const ahead = { ...last, sequence: last.sequence + 1n };
        expect(search(all, 1, ahead).found).toEqual({ kind: 'ahead', last: last.sequence });
        const kept = records[pick % records.length] as LogRecord;
        const first = all.findIndex(({ sequence }) => sequence === kept.sequence) + 1;
        const before = records[(pick % records.length) - 1] ?? LOG_START;
        expect(search(all, first, before).found).toEqual({ kind: 'place', next: first });
        if (kept.sequence < 2n) return;
        expect(search(all, first, LOG_START).found).toEqual({
          kind: 'trimmed',
          oldest: kept.sequence,
        });
      }),
    );
  });

  it('takes three reads where records have no parts', () => {
    const { payloads, records } = writeLog([
      { sizes: Array.from({ length: 500 }, () => 10), tornParts: 0 },
    ]);
    const { found, reads } = search(heads(payloads), 1, records[321] as LogRecord);
    expect(found).toEqual({ kind: 'place', next: 323 });
    expect(reads).toBe(3);
  });
});
