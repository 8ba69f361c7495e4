/** Frames as a deployment writes them, right and wrong ones, byte by byte: nothing of the server is used to speak to it. */

const HEADER_BYTES = 8;

/** Type codes by the names of the service protocol. */
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
  setState: 0x0403,
  getPromise: 0x0409,
  sleep: 0x040c,
  call: 0x040d,
  oneWayCall: 0x040e,
  sendSignal: 0x0410,
  run: 0x0411,
  attachInvocation: 0x0412,
  completeAwakeable: 0x0414,
  sleepCompletion: 0x800c,
  runCompletion: 0x8011,
  signal: 0xfbff,
} as const;

export interface FrameOptions {
  readonly flags?: number;
  /** What the header says of the length, when it is not the truth. */
  readonly claimedBytes?: number;
}

export function frame(code: number, payload: Uint8Array, options: FrameOptions = {}): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(code, 0);
  header.writeUInt16BE(options.flags ?? 0, 2);
  header.writeUInt32BE(options.claimedBytes ?? payload.length, 4);
  return Buffer.concat([header, payload]);
}

/** A frame of protobuf fields. */
export function message(code: number, ...fields: readonly Buffer[]): Buffer {
  return frame(code, Buffer.concat(fields));
}

export function uint(field: number, value: number | bigint): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

export function bytes(field: number, value: Uint8Array | string): Buffer {
  const content = Buffer.from(value);
  return Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
}

/** A packed list of numbers. */
export function packed(field: number, values: readonly number[]): Buffer {
  return bytes(field, Buffer.concat(values.map(varint)));
}

/** Value { content }. */
export function value(field: number, content: Uint8Array | string): Buffer {
  return bytes(field, bytes(1, content));
}

export const END = message(CODE.end);

export function output(json: unknown): Buffer {
  return message(CODE.output, value(14, JSON.stringify(json)));
}

export function run(completionId: number): Buffer {
  return message(CODE.run, uint(11, completionId), bytes(12, 'step'));
}

export function propose(completionId: number, json: unknown = 'done'): Buffer {
  return message(CODE.proposeRunCompletion, uint(1, completionId), bytes(14, JSON.stringify(json)));
}

export function sleep(wakeUpTime: number | bigint, completionId: number): Buffer {
  return message(CODE.sleep, uint(1, wakeUpTime), uint(11, completionId));
}

/** Suspension of protocol 7 on any of these completions. */
export function suspension(completionIds: readonly number[]): Buffer {
  return message(CODE.suspension, bytes(4, Buffer.concat([packed(1, completionIds), uint(5, 1)])));
}

/** A tree of so many levels below `field`, its leaf a completion. */
export function deepTree(field: number, depth: number): Buffer {
  let tree = Buffer.concat([packed(1, [1]), uint(5, 1)]);
  for (let level = 1; level < depth; level += 1) tree = Buffer.concat([bytes(4, tree), uint(5, 1)]);
  return bytes(field, tree);
}

function varint(value: number | bigint): Buffer {
  const out: number[] = [];
  let rest = BigInt(value);
  while (rest >= 0x80n) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  out.push(Number(rest));
  return Buffer.from(out);
}
