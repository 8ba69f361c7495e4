/** Frames as an SDK writes them, for scripted handlers. */

import { COMMAND_CODE, encodeFrame, MESSAGE_TYPE } from '@engine/service-protocol';
import { concatBytes, decodeUtf8, EMPTY_BYTES, encodeUtf8 } from '@engine/stdx';

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

export function uint(field: number, value: number): Uint8Array {
  return concatBytes([varint(field * 8), varint(value)]);
}

export function bytes(field: number, value: Uint8Array): Uint8Array {
  return concatBytes([varint(field * 8 + 2), varint(value.length), value]);
}

export function text(field: number, value: string): Uint8Array {
  return bytes(field, encodeUtf8(value));
}

export function frame(code: number, ...fields: readonly Uint8Array[]): Uint8Array {
  return encodeFrame({ type: code, payload: concatBytes(fields) });
}

/** Value { content }. */
function value(field: number, content: Uint8Array): Uint8Array {
  return bytes(field, bytes(1, content));
}

export const END = frame(MESSAGE_TYPE.end);

export function output(content: string): Uint8Array {
  return frame(MESSAGE_TYPE.output, value(14, encodeUtf8(content)));
}

export function run(name: string, completionId: number): Uint8Array {
  return frame(COMMAND_CODE.run, uint(11, completionId), text(12, name));
}

export function proposeRun(completionId: number, content: string): Uint8Array {
  return frame(MESSAGE_TYPE.proposeRunCompletion, uint(1, completionId), text(14, content));
}

export function sleep(wakeUpTime: number, completionId: number): Uint8Array {
  return frame(COMMAND_CODE.sleep, uint(1, wakeUpTime), uint(11, completionId));
}

export function setState(key: string, content: string): Uint8Array {
  return frame(COMMAND_CODE['set-state'], text(1, key), value(3, encodeUtf8(content)));
}

export function call(
  to: { readonly service: string; readonly handler: string; readonly key?: string },
  parameter: string,
  completionIds: { readonly invocationId: number; readonly result: number },
): Uint8Array {
  return frame(
    COMMAND_CODE.call,
    text(1, to.service),
    text(2, to.handler),
    text(3, parameter),
    to.key === undefined ? EMPTY_BYTES : text(5, to.key),
    uint(10, completionIds.invocationId),
    uint(11, completionIds.result),
  );
}

/** Suspension of protocol 5 and 6: any of these completions or signals. */
export function suspension(completionIds: readonly number[]): Uint8Array {
  return frame(
    MESSAGE_TYPE.suspension,
    bytes(1, concatBytes(completionIds.map(varint))),
    bytes(2, varint(1)),
  );
}

/** Hint of protocol 7: what is awaited is any of these completions. */
export function awaitingOn(completionIds: readonly number[]): Uint8Array {
  const tree = concatBytes([bytes(1, concatBytes(completionIds.map(varint))), uint(5, 1)]);
  return frame(MESSAGE_TYPE.awaitingOn, bytes(1, tree));
}

export function error(code: number, message: string): Uint8Array {
  return frame(MESSAGE_TYPE.error, uint(1, code), text(2, message));
}

/** The state map of a start message. */
export function eagerState(start: Uint8Array): Map<string, string> {
  const state = new Map<string, string>();
  for (const [field, entry] of lengthDelimited(start)) {
    if (field !== 4) continue;
    const parts = new Map(lengthDelimited(entry));
    state.set(decodeUtf8(parts.get(1) ?? EMPTY_BYTES), decodeUtf8(parts.get(2) ?? EMPTY_BYTES));
  }
  return state;
}

/** Fields of a message that carry bytes; numbers are skipped. */
function lengthDelimited(message: Uint8Array): [field: number, content: Uint8Array][] {
  const fields: [number, Uint8Array][] = [];
  let at = 0;
  const readVarint = (): number => {
    let result = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = message[at++] ?? 0;
      result += (byte & 0x7f) * scale;
      if (byte < 0x80) return result;
    }
  };
  while (at < message.length) {
    const tag = readVarint();
    if (tag % 8 !== 2) {
      readVarint();
      continue;
    }
    const length = readVarint();
    fields.push([Math.floor(tag / 8), message.subarray(at, at + length)]);
    at += length;
  }
  return fields;
}
