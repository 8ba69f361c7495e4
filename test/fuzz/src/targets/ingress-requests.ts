/** Requests to the ingress as bytes: sane ones, and the kinds that trip servers. */

import { formatAwakeableId, INVOCATION_ID_BYTES, invocationIdFromBytes } from '@engine/domain';
import { concatBytes, encodeUtf8 } from '@engine/stdx';

import type { Chance } from '../chance.js';
import { jsonText } from '../json.js';

const SERVICES = ['Greeter', 'Counter', 'Flow', 'Old', 'Nobody', '__proto__'];
const HANDLERS = ['greet', 'hidden', 'add', 'get', 'run', 'stage', 'open', 'toString'];
const METHODS = ['GET', 'POST', 'POST', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];
const TYPES = ['application/json', 'text/plain', 'application/json; charset=utf-8', '*/*', ';', ''];

/** A header that any client may send, as name and value. */
type HeaderField = readonly [name: string, value: string];

/** One request with a body whose end is said in the usual ways. `isLast` asks for the end of the connection. */
export function saneRequest(chance: Chance, isLast: boolean): Uint8Array {
  const body = bodyOf(chance);
  const isChunked = chance.yes(0.3);
  const length: HeaderField = isChunked
    ? ['transfer-encoding', 'chunked']
    : ['content-length', String(body.length)];
  const fields = [
    ...headerFields(chance),
    length,
    ...(isLast ? [['connection', 'close'] as const] : []),
  ];
  const head = `${chance.pick(METHODS)} ${targetOf(chance)} HTTP/1.1\r\n${linesOf(fields)}\r\n`;
  return concatBytes([encodeLatin1(head), isChunked ? chunked(chance, body) : body]);
}

/** One request with something odd about it: its method, version, spaces, lengths, header bytes. */
export function oddRequest(chance: Chance): Uint8Array {
  const method = chance.pick([
    ...METHODS,
    'HEAD',
    'CONNECT',
    'PRI',
    'get',
    'M-SEARCH',
    chance.text(4),
  ]);
  const version = chance.pick(['HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'http/1.1', '']);
  const target = chance.yes(0.7) ? targetOf(chance) : rawTarget(chance);
  const body = bodyOf(chance);
  const fields = [
    ...headerFields(chance),
    ...chance.list(chance.below(3), () => oddField(chance, body)),
  ];
  const end = chance.pick(['\r\n', '\r\n', '\r\n', '\n']);
  const head = `${method} ${target} ${version}${end}${linesOf(fields, end)}${end}`;
  return concatBytes([encodeLatin1(head), chance.yes() ? body : chunked(chance, body)]);
}

/** Path and query, every byte allowed in a request line. */
function targetOf(chance: Chance): string {
  return `${pathOf(chance)}${chance.yes(0.3) ? `?${queryOf(chance)}` : ''}`;
}

/** A path of the shape of one of the routes, sometimes with too much or too little. */
export function pathOf(chance: Chance): string {
  const prefix = chance.pick(['/engine', '/engine', '/restate', '', '/', '//']);
  const parts = chance.pick(ROUTES)(chance);
  if (chance.yes(0.1)) parts.push(segment(chance));
  if (chance.yes(0.1)) parts.splice(chance.below(parts.length + 1), 1);
  const end = chance.yes(0.1) ? chance.pick(['/', '//', '/.', '/..', '?', '#']) : '';
  return `${prefix}/${parts.join('/')}${end}`;
}

const ROUTES: readonly ((chance: Chance) => string[])[] = [
  (chance) => [chance.pick(['call', 'send']), ...targetParts(chance)],
  (chance) => targetParts(chance),
  (chance) => [...targetParts(chance), 'send'],
  (chance) => ['scope', segment(chance), chance.pick(['call', 'send']), ...targetParts(chance)],
  (chance) => [chance.pick(['attach', 'output']), idText(chance)],
  (chance) => [chance.pick(['attach', 'output', 'lookup', 'health'])],
  (chance) => [
    chance.pick(['awakeables', 'a']),
    awakeableText(chance),
    chance.pick(['resolve', 'reject']),
  ],
  (chance) => ['invocation', idText(chance), chance.pick(['attach', 'output'])],
  (chance) => [
    'invocation',
    ...targetParts(chance),
    segment(chance),
    chance.pick(['attach', 'output']),
  ],
  (chance) => [
    'workflow',
    chance.pick(SERVICES),
    segment(chance),
    chance.pick(['attach', 'output']),
  ],
];

function targetParts(chance: Chance): string[] {
  const service = chance.pick(SERVICES);
  const isKeyed = service === 'Counter' || service === 'Flow';
  const handler = chance.pick(HANDLERS);
  return isKeyed ? [service, segment(chance), handler] : [service, handler];
}

/** A segment: plain, percent-encoded bytes of any kind, half an escape, long. */
function segment(chance: Chance): string {
  const length = chance.yes(0.01) ? chance.below(70_000) : chance.below(12);
  if (chance.yes(0.4)) return 'k'.repeat(length);
  const bytes = [...chance.bytes(Math.min(length, 2_000))];
  const escapes = bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
  const noise = chance.pick(['', '', '%', '%4', '%zz', '+', '..', '.', '%00', '%ff%fe', '%2F']);
  return `${escapes.join('')}${noise}`;
}

function queryOf(chance: Chance): string {
  const pair = (): string => {
    const name = chance.pick(['delay', 'Delay', 'limit-key', 'x', '']);
    const value = chance.pick([
      '1s',
      '10d',
      'PT1S',
      '99999999999d',
      '-1s',
      'a/b',
      'a/b/c',
      '%ff',
      segment(chance),
    ]);
    return `${name}=${value}`;
  };
  return chance.list(chance.below(4), pair).join('&');
}

function headerFields(chance: Chance): HeaderField[] {
  const all: HeaderField[] = [
    ['host', 'localhost'],
    ['content-type', chance.pick(TYPES)],
    ['idempotency-key', 'k'.repeat(chance.length(60))],
    ['origin', chance.pick(['http://a', 'null', ''])],
    ['x-restate-limit-key', chance.pick(['a', 'a/b', 'a/b/c', '', '!'])],
    ['access-control-request-method', 'POST'],
    ['access-control-request-headers', 'x-a, x-b'],
    ['x-custom', printable(chance)],
  ];
  return all.filter(() => chance.yes(0.4));
}

function oddField(chance: Chance, body: Uint8Array): HeaderField {
  const length = String(body.length);
  return chance.pick<HeaderField>([
    [
      'content-length',
      chance.pick([length, '-1', '1e3', '0x10', '99999999999999999999', '+5', ' 5', '5,5', '']),
    ],
    ['content-length', String(chance.number())],
    [
      'transfer-encoding',
      chance.pick(['chunked', 'gzip', 'chunked, chunked', 'identity', 'xchunked']),
    ],
    ['expect', chance.pick(['100-continue', 'nonsense'])],
    ['upgrade', chance.pick(['h2c', 'websocket', ''])],
    ['connection', chance.pick(['close', 'keep-alive', 'upgrade', 'close, keep-alive', ''])],
    [chance.pick(['origin', 'idempotency-key', 'x', 'content-type']), latin1(chance, 30)],
    [latin1(chance, 8), latin1(chance, 8)],
    ['x-long', 'x'.repeat(chance.yes(0.05) ? chance.below(200_000) : chance.below(2_000))],
  ]);
}

/** Any byte but blanks and line ends. */
function rawTarget(chance: Chance): string {
  return `/${latin1(chance, 40).replaceAll(/[\r\n ]/g, '')}`;
}

function bodyOf(chance: Chance): Uint8Array {
  if (chance.yes(0.4)) return new Uint8Array(0);
  if (chance.yes(0.5)) return chance.bytes(chance.length(2_000));
  return encodeUtf8(chance.yes(0.5) ? jsonText(chance) : queryBody(chance));
}

function queryBody(chance: Chance): string {
  const text = (): unknown => (chance.yes(0.9) ? chance.text(chance.below(8)) : chance.number());
  return JSON.stringify({
    target: chance.pick(['invocation', 'workflow', 'idempotentInvocation', 'nothing']),
    invocationId: idText(chance),
    workflowName: text(),
    workflowKey: text(),
    service: text(),
    handler: text(),
    key: text(),
    idempotencyKey: text(),
    ...(chance.yes(0.2) ? { scope: text() } : {}),
  });
}

function chunked(chance: Chance, body: Uint8Array): Uint8Array {
  const cut = chance.below(body.length + 1);
  const parts = [body.subarray(0, cut), body.subarray(cut)].filter((part) => part.length > 0);
  const pieces = parts.flatMap((part) => [
    encodeLatin1(`${part.length.toString(16)}\r\n`),
    part,
    encodeLatin1('\r\n'),
  ]);
  return concatBytes([...pieces, encodeLatin1('0\r\n\r\n')]);
}

function idText(chance: Chance): string {
  const id = invocationIdFromBytes(chance.bytes(INVOCATION_ID_BYTES));
  return chance.yes(0.8) ? id : `${id}${segment(chance)}`;
}

function awakeableText(chance: Chance): string {
  const invocationId = invocationIdFromBytes(chance.bytes(INVOCATION_ID_BYTES));
  const id = formatAwakeableId({ invocationId, signalIndex: chance.number() });
  return chance.yes(0.8) ? id : segment(chance);
}

function linesOf(fields: readonly HeaderField[], end = '\r\n'): string {
  return fields.map(([name, value]) => `${name}: ${value}${end}`).join('');
}

function printable(chance: Chance): string {
  return chance
    .list(chance.length(40), () => String.fromCharCode(chance.between(0x21, 0x7e)))
    .join('');
}

/** Characters that stand for one byte each. */
function latin1(chance: Chance, max: number): string {
  return chance.list(chance.length(max), () => String.fromCharCode(chance.below(256))).join('');
}

/** One byte per character; what is above 0xff is cut. */
export function encodeLatin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
