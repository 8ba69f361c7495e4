/** Holds what came back from the ingress against what a client may rely on. */

import { assert } from '@engine/stdx';

const STATUS_LINE = /^HTTP\/1\.1 ([1-9]\d\d) [^\r\n]*$/;
const FIELD_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+: [\t\x20-\x7e\x80-\xff]*$/;
const HTTP2_FRAME_HEAD_BYTES = 9;
const HTTP2_TYPE_SETTINGS = 4;
/** The refusal that hides a fault of the ingress itself. */
const OWN_FAULT = '"message":"internal error"';

export interface Received {
  readonly bytes: Buffer;
  /** True when the connection was reset: the last answer may be cut. */
  readonly isReset: boolean;
  /** Some request may have been a HEAD, whose answer has a length and no body. */
  readonly mayLackBodies: boolean;
}

/** Cuts HTTP/1 answers, each whole and well-formed. Returns their statuses; 1xx ones do not count. */
export function judgeHttp1({ bytes, isReset, mayLackBodies }: Received): number[] {
  const text = bytes.toString('latin1');
  const statuses: number[] = [];
  let position = 0;
  while (position < text.length) {
    const end = text.indexOf('\r\n\r\n', position);
    if (end < 0 && isReset) return statuses;
    assert(end >= 0, `the head of an answer ends: ${shown(text.slice(position))}`);
    const [statusLine = '', ...lines] = text.slice(position, end).split('\r\n');
    const status = Number(STATUS_LINE.exec(statusLine)?.[1]);
    assert(status > 0, `a status line: ${shown(statusLine)}`);
    for (const line of lines) assert(FIELD_LINE.test(line), `a header field: ${shown(line)}`);
    position = end + 4;
    if (status < 200) continue;
    statuses.push(status);
    const length = lengthOf(lines, status);
    const rest = text.slice(position, position + length);
    const lacksBody = mayLackBodies && (rest === '' || rest.startsWith('HTTP/1.1 '));
    if (lacksBody) continue;
    assert(rest.length === length || isReset, `a body has its length: ${shown(rest)}`);
    if (rest.length === length) judgeBody(lines, rest);
    position += length;
  }
  return statuses;
}

function lengthOf(lines: readonly string[], status: number): number {
  const fields = lines.filter((line) => /^content-length: /i.test(line));
  if (status === 204 || status === 304) return 0;
  assert(fields.length === 1, 'an answer says its length once');
  return Number(fields[0]?.slice('content-length: '.length));
}

function judgeBody(lines: readonly string[], body: string): void {
  assert(!body.includes(OWN_FAULT), `no fault of the ingress itself: ${shown(body)}`);
  const isJson = lines.some((line) => /^content-type: application\/json$/i.test(line));
  const isOwn = lines.some((line) => /^x-engine-error-source: /i.test(line));
  if (isJson && isOwn) JSON.parse(Buffer.from(body, 'latin1').toString());
}

/** Whole frames only, settings first. */
export function judgeHttp2({ bytes, isReset }: Received): void {
  assert(!bytes.includes(OWN_FAULT), 'no fault of the ingress itself');
  let position = 0;
  while (position < bytes.length) {
    const isCut = position + HTTP2_FRAME_HEAD_BYTES > bytes.length;
    if (isCut && isReset) return;
    assert(!isCut, 'the head of a frame is whole');
    const type = bytes.readUInt8(position + 3);
    assert(position > 0 || type === HTTP2_TYPE_SETTINGS, 'the first frame has the settings');
    position += HTTP2_FRAME_HEAD_BYTES + bytes.readUIntBE(position, 3);
    assert(position <= bytes.length || isReset, 'a frame is whole');
  }
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
