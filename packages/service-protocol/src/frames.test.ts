import { describe, expect, it } from '@jest/globals';
import { fromHex, toHex } from '@engine/stdx';
import fc from 'fast-check';
import { encodeFrame, encodeFrames, encodePieces, FrameDecoder, type Frame } from './frames.js';

const LIMIT = 1 << 20;

function takeAll(decoder: FrameDecoder): Frame[] {
  const frames: Frame[] = [];
  for (let next = decoder.next(); next !== undefined; next = decoder.next()) {
    if (next.kind === 'fault') throw new Error(next.message);
    frames.push(next);
  }
  return frames;
}

describe('frames', () => {
  it('writes the known headers', () => {
    expect(toHex(encodeFrame({ type: 0x0003, payload: new Uint8Array(0) }))).toBe(
      '0003000000000000',
    );
    expect(
      toHex(encodeFrame({ type: 0x0005, payload: fromHex('080172023432'), ackRequested: true })),
    ).toBe('0005800000000006080172023432');
    expect(
      toHex(
        encodeFrames([
          { type: 0xfbff, payload: fromHex('10012200') },
          { type: 0x0003, payload: new Uint8Array(0) },
        ]),
      ),
    ).toBe('fbff0000000000041001220000030000' + '00000000');
  });

  it('gives back what was written, however the bytes are split', () => {
    const frame = fc.record({
      type: fc.nat(0xffff),
      ackRequested: fc.boolean(),
      payload: fc.uint8Array({ maxLength: 40 }),
    });
    const cuts = fc.array(fc.nat(60), { maxLength: 30 });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), cuts, (frames, steps) => {
        const bytes = Buffer.concat(frames.map((f) => encodeFrame(f)));
        const decoder = new FrameDecoder(LIMIT);
        const seen: Frame[] = [];
        let offset = 0;
        for (const step of [...steps, bytes.length]) {
          decoder.push(new Uint8Array(bytes.subarray(offset, offset + step)));
          offset += Math.min(step, bytes.length - offset);
          if (step % 2 === 0) seen.push(...takeAll(decoder));
        }
        seen.push(...takeAll(decoder));
        expect(decoder.bufferedBytes).toBe(0);
        expect(
          seen.map(({ type, ackRequested, payload }) => ({ type, ackRequested, payload })),
        ).toEqual(frames);
      }),
    );
  });

  it('gives views of a chunk that holds whole frames', () => {
    const chunk = encodeFrame({ type: 0x0401, payload: Uint8Array.of(1, 2, 3) });
    const decoder = new FrameDecoder(LIMIT);
    decoder.push(chunk);
    expect(takeAll(decoder)[0]?.payload.buffer).toBe(chunk.buffer);
  });

  it('refuses a payload at the limit as soon as its header has come, and then for good', () => {
    const decoder = new FrameDecoder(33_816_576);
    decoder.push(fromHex('04010000' + '02040000'));
    const fault = decoder.next();
    expect(fault).toMatchObject({ kind: 'fault', code: 'RT0003' });
    decoder.push(new Uint8Array(100));
    expect(decoder.next()).toBe(fault);
    expect(decoder.bufferedBytes).toBe(0);
    const below = new FrameDecoder(33_816_576);
    below.push(fromHex('04010000' + '0203ffff'));
    expect(below.next()).toBeUndefined();
  });

  it('puts a large payload together as it comes, with frames before and behind it', () => {
    const payload = new Uint8Array(1024 * 1024).map((_, index) => index % 251);
    const frames = [
      { type: 0x0401, payload: Uint8Array.of(1, 2, 3) },
      { type: 0x0405, payload, ackRequested: true },
      { type: 0x0403, payload: Uint8Array.of(4) },
    ];
    const bytes = encodeFrames(frames);
    for (const step of [1_000, 65_536, 700_000]) {
      const decoder = new FrameDecoder(2 * 1024 * 1024);
      const seen: Frame[] = [];
      const expected: number[] = [];
      for (let offset = 0; offset < bytes.length; offset += step) {
        decoder.push(bytes.slice(offset, offset + step));
        seen.push(...takeAll(decoder));
        expected.push(decoder.expectedBytes);
        const taken = seen.reduce((sum, frame) => sum + 8 + frame.payload.length, 0);
        expect(decoder.bufferedBytes).toBe(Math.min(offset + step, bytes.length) - taken);
      }
      expect(seen.map(({ type, payload: { length } }) => ({ type, length }))).toEqual(
        frames.map(({ type, payload: { length } }) => ({ type, length })),
      );
      expect(Buffer.compare(seen[1]?.payload ?? new Uint8Array(), payload)).toBe(0);
      expect(seen[1]?.ackRequested).toBe(true);
      expect(new Set(expected.slice(0, -1))).toEqual(new Set([payload.length]));
      expect(expected.at(-1)).toBe(0);
    }
  });

  it('takes no room for a payload of which only the header has come', () => {
    const decoder = new FrameDecoder(2 ** 31);
    decoder.push(fromHex('04010000' + '7fffff00'));
    expect(decoder.next()).toBeUndefined();
    expect(decoder.expectedBytes).toBe(0x7fffff00);
    expect(decoder.bufferedBytes).toBe(8);
  });

  it('counts the bytes of a torn frame', () => {
    const decoder = new FrameDecoder(LIMIT);
    decoder.push(fromHex('0003000000'));
    expect(decoder.next()).toBeUndefined();
    expect(decoder.bufferedBytes).toBe(5);
  });
});

describe('pieces', () => {
  it('are the same bytes, with large payloads as they are', () => {
    const large = new Uint8Array(100_000).fill(7);
    const frames = [
      { type: 1, payload: Uint8Array.of(1) },
      { type: 2, payload: Uint8Array.of(2), ackRequested: true },
      { type: 3, payload: Uint8Array.of(3), rest: [large, Uint8Array.of(4)] },
      { type: 4, payload: large },
      { type: 5, payload: Uint8Array.of(5) },
    ];
    const pieces = encodePieces(frames);
    expect(Buffer.concat(pieces).equals(encodeFrames(frames))).toBe(true);
    expect(pieces.filter((piece) => piece === large)).toHaveLength(2);
    expect(encodePieces(frames.slice(0, 2))).toHaveLength(1);
    expect(encodePieces([])).toEqual([]);
  });
});
