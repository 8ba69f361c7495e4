/**
 * The frame decoder against a second one that is too simple to be wrong: whatever the stream and however it is split, both cut
 * the same frames. Each frame is then decoded as every version would.
 */

import {
  decodeHandlerMessage,
  encodeFrame,
  encodeFrames,
  FRAME_HEADER_BYTES,
  FrameDecoder,
  type Frame,
} from '@engine/service-protocol';
import { assert, toHex } from '@engine/stdx';

import type { Chance } from '../chance.js';
import { handlerFrame, splitBytes } from '../handler-frames.js';
import { mutateBytes } from '../mutate.js';
import { openTarget, type Target } from '../target.js';

const FAULT_CODES: readonly string[] = ['RT0003', 'RT0012', 'RT0025'];

export const frames: Target = {
  name: 'frames',
  open: () =>
    openTarget((chance) => {
      const bytes = streamOf(chance);
      const limit = chance.yes(0.8) ? 1 << 20 : chance.number();
      const pieces = splitBytes(chance, bytes);
      const isEager = chance.yes();
      return {
        bytes,
        run: () => {
          const cut = decodeAll(pieces, limit, isEager);
          assert(
            describe(cut) === describe(simply(bytes, limit)),
            'the frames are those of the stream',
          );
          for (const frame of cut.frames) judge(frame);
        },
      };
    }),
};

interface Cut {
  readonly frames: readonly Frame[];
  readonly isRefused: boolean;
  /** Not taken; 0 after a refusal. */
  readonly left: number;
}

function streamOf(chance: Chance): Uint8Array {
  if (chance.yes(0.1)) return chance.bytes(chance.length(400));
  const bytes = encodeFrames(chance.list(chance.between(1, 5), () => handlerFrame(chance)));
  return chance.yes(0.4) ? mutateBytes(chance, bytes) : bytes;
}

/** `isEager` takes frames after every piece, else only at the end. */
function decodeAll(pieces: readonly Uint8Array[], limit: number, isEager: boolean): Cut {
  const decoder = new FrameDecoder(limit);
  const taken: Frame[] = [];
  let isRefused = false;
  const take = (): void => {
    for (let next = decoder.next(); next !== undefined; next = decoder.next()) {
      isRefused = next.kind === 'fault';
      if (next.kind === 'fault') {
        assert(next.code === 'RT0003', 'a decoder refuses only what is too large');
        return;
      }
      taken.push(next);
    }
  };
  for (const piece of pieces) {
    decoder.push(piece);
    if (isEager) take();
  }
  take();
  return { frames: taken, isRefused, left: decoder.bufferedBytes };
}

function simply(bytes: Uint8Array, limit: number): Cut {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: Frame[] = [];
  let offset = 0;
  while (offset + FRAME_HEADER_BYTES <= bytes.length) {
    const length = view.getUint32(offset + 4);
    if (length >= limit) return { frames: found, isRefused: true, left: 0 };
    const end = offset + FRAME_HEADER_BYTES + length;
    if (end > bytes.length) break;
    found.push({
      kind: 'frame',
      type: view.getUint16(offset),
      ackRequested: view.getUint8(offset + 2) >= 0x80,
      payload: bytes.subarray(offset + FRAME_HEADER_BYTES, end),
    });
    offset = end;
  }
  return { frames: found, isRefused: false, left: bytes.length - offset };
}

function describe({ frames: list, isRefused, left }: Cut): string {
  const texts = list.map((frame) => toHex(encodeFrame(frame)));
  return [...texts, String(isRefused), String(left)].join('\n');
}

function judge(frame: Frame): void {
  for (const version of [5, 6, 7]) {
    const message = decodeHandlerMessage(frame, version);
    if (message.kind !== 'fault') continue;
    assert(FAULT_CODES.includes(message.code), 'a fault has a documented code');
    assert(message.message !== '', 'a fault says what is wrong');
  }
}
