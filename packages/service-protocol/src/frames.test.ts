import { describe, expect, it } from '@jest/globals';
import { fromHex, toHex } from '@engine/stdx';
import fc from 'fast-check';
import { encodeFrame, encodeFrames, FrameDecoder, type Frame } from './frames.js';

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

  it('counts the bytes of a torn frame', () => {
    const decoder = new FrameDecoder(LIMIT);
    decoder.push(fromHex('0003000000'));
    expect(decoder.next()).toBeUndefined();
    expect(decoder.bufferedBytes).toBe(5);
  });
});
