/** Frames and message codes as a handler knows them, written apart from the server's code so that each checks the other. */

import { ProtoMessage, ProtoWriter } from './proto.js';

export const CODE = {
  start: 0x0000,
  suspension: 0x0001,
  error: 0x0002,
  end: 0x0003,
  commandAck: 0x0004,
  proposeRunCompletion: 0x0005,
  awaitingOn: 0x0006,
  proposeRunCompletionAck: 0x0007,
  input: 0x0400,
  output: 0x0401,
  getLazyState: 0x0402,
  setState: 0x0403,
  clearState: 0x0404,
  clearAllState: 0x0405,
  getLazyStateKeys: 0x0406,
  getEagerState: 0x0407,
  getEagerStateKeys: 0x0408,
  getPromise: 0x0409,
  peekPromise: 0x040a,
  completePromise: 0x040b,
  sleep: 0x040c,
  call: 0x040d,
  oneWayCall: 0x040e,
  sendSignal: 0x0410,
  run: 0x0411,
  attachInvocation: 0x0412,
  getInvocationOutput: 0x0413,
  completeAwakeable: 0x0414,
} as const;

export interface SdkFrame {
  readonly type: number;
  readonly payload: Uint8Array;
  readonly ackRequested?: boolean;
}

const HEADER_BYTES = 8;

export function frameBytes({ type, payload, ackRequested }: SdkFrame): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, type);
  view.setUint16(2, ackRequested === true ? 0x8000 : 0);
  view.setUint32(4, payload.length);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/** Puts frames together out of chunks that were cut anywhere. */
export class FrameReader {
  #bytes: Uint8Array = new Uint8Array(0);

  push(chunk: Uint8Array): SdkFrame[] {
    const bytes = new Uint8Array(this.#bytes.length + chunk.length);
    bytes.set(this.#bytes);
    bytes.set(chunk, this.#bytes.length);
    const view = new DataView(bytes.buffer);
    const frames: SdkFrame[] = [];
    let offset = 0;
    while (bytes.length - offset >= HEADER_BYTES) {
      const end = offset + HEADER_BYTES + view.getUint32(offset + 4);
      if (end > bytes.length) break;
      frames.push({
        type: view.getUint16(offset),
        payload: bytes.slice(offset + HEADER_BYTES, end),
      });
      offset = end;
    }
    this.#bytes = bytes.slice(offset);
    return frames;
  }

  get isTorn(): boolean {
    return this.#bytes.length > 0;
  }
}

/** What a notification says. */
export type Settled =
  | { readonly kind: 'void' }
  | { readonly kind: 'value'; readonly value: Uint8Array }
  | ({ readonly kind: 'failure' } & SdkFailure)
  | { readonly kind: 'invocation-id'; readonly id: string }
  | { readonly kind: 'state-keys'; readonly keys: readonly string[] };

export interface SdkFailure {
  readonly code: number;
  readonly message: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface SdkNotification {
  /** `c3` a completion, `s17` a signal, `nfoo` a named signal. */
  readonly id: string;
  readonly settled: Settled;
}

/** Undefined when a part is missing, which SDKs do not forgive. */
export function readNotification(payload: Uint8Array): SdkNotification | undefined {
  const message = new ProtoMessage(payload);
  const id = message.has(1)
    ? `c${String(message.number(1))}`
    : message.has(2)
      ? `s${String(message.number(2))}`
      : message.has(3)
        ? `n${message.text(3)}`
        : undefined;
  const settled = readSettled(message);
  return id === undefined || settled === undefined ? undefined : { id, settled };
}

function readSettled(message: ProtoMessage): Settled | undefined {
  if (message.has(4)) return { kind: 'void' };
  if (message.has(5)) return { kind: 'value', value: message.message(5).bytes(1) };
  if (message.has(6)) return { kind: 'failure', ...readFailure(message.message(6)) };
  if (message.has(16)) return { kind: 'invocation-id', id: message.text(16) };
  if (!message.has(17)) return undefined;
  const keys = message.message(17).all(1);
  return { kind: 'state-keys', keys: keys.map((key) => new TextDecoder().decode(key)) };
}

function readFailure(message: ProtoMessage): SdkFailure {
  const metadata: Record<string, string> = {};
  for (const bytes of message.all(3)) {
    const entry = new ProtoMessage(bytes);
    metadata[entry.text(1)] = entry.text(2);
  }
  return { code: message.number(1), message: message.text(2), metadata };
}

/** Failures carry metadata from version 6 on. */
export function failureWriter(failure: SdkFailure, version: number): ProtoWriter {
  const writer = new ProtoWriter().uint(1, failure.code).text(2, failure.message);
  if (version < 6) return writer;
  for (const [key, value] of Object.entries(failure.metadata)) {
    writer.message(3, new ProtoWriter().text(1, key).text(2, value));
  }
  return writer;
}

export function valueWriter(value: Uint8Array): ProtoWriter {
  return new ProtoWriter().bytes(1, value);
}
