/** Frames as a handler sends them: every type of message in its shape, and some that it must not send. */

import { COMMAND_CODE, MESSAGE_TYPE, type OutgoingFrame } from '@engine/service-protocol';

import type { Chance } from './chance.js';
import { mutateBytes } from './mutate.js';
import { messageOf, type Shape } from './protobuf.js';

const VALUE: Shape = { 1: 'bytes' };
const VOID: Shape = {};
const PAIR: Shape = { 1: 'text', 2: 'text' };
const FAILURE: Shape = { 1: 'number', 2: 'text', 3: PAIR };
const FUTURE: Shape = { 1: 'number', 2: 'number', 3: 'text', 4: 'self', 5: 'number' };
const PROMISE_READ: Shape = { 1: 'text', 11: 'number', 12: 'text' };
const ATTACHMENT: Shape = {
  1: 'text',
  3: { 1: 'text', 2: 'text', 3: 'text', 4: 'text', 5: 'text' },
  4: { 1: 'text', 2: 'text', 3: 'text' },
  11: 'number',
  12: 'text',
};

/** Shapes by type of message, as proto/service-protocol has them; written apart from the generated code. */
const SHAPES: readonly (readonly [type: number, shape: Shape])[] = [
  [MESSAGE_TYPE.suspension, { 1: 'number', 2: 'number', 3: 'text' }],
  [MESSAGE_TYPE.suspension, { 4: FUTURE }],
  [MESSAGE_TYPE.awaitingOn, { 1: FUTURE, 2: 'number' }],
  [
    MESSAGE_TYPE.error,
    {
      1: 'number',
      2: 'text',
      3: 'text',
      4: 'number',
      5: 'text',
      6: 'number',
      8: 'long',
      9: 'number',
    },
  ],
  [MESSAGE_TYPE.end, VOID],
  [MESSAGE_TYPE.proposeRunCompletion, { 1: 'number', 14: 'bytes' }],
  [MESSAGE_TYPE.proposeRunCompletion, { 1: 'number', 15: FAILURE }],
  [MESSAGE_TYPE.output, { 12: 'text', 14: VALUE }],
  [MESSAGE_TYPE.output, { 12: 'text', 15: FAILURE }],
  [COMMAND_CODE['get-lazy-state'], { 1: 'text', 11: 'number', 12: 'text' }],
  [COMMAND_CODE['set-state'], { 1: 'text', 3: VALUE, 12: 'text' }],
  [COMMAND_CODE['clear-state'], { 1: 'bytes', 12: 'text' }],
  [COMMAND_CODE['clear-all-state'], { 12: 'text' }],
  [COMMAND_CODE['get-lazy-state-keys'], { 11: 'number', 12: 'text' }],
  [COMMAND_CODE['get-eager-state'], { 1: 'text', 12: 'text', 13: VOID, 14: VALUE }],
  [COMMAND_CODE['get-eager-state-keys'], { 12: 'text', 14: { 1: 'bytes' } }],
  [COMMAND_CODE['get-promise'], PROMISE_READ],
  [COMMAND_CODE['peek-promise'], PROMISE_READ],
  [COMMAND_CODE['complete-promise'], { 1: 'text', 2: VALUE, 3: FAILURE, 11: 'number', 12: 'text' }],
  [COMMAND_CODE.sleep, { 1: 'long', 11: 'number', 12: 'text' }],
  [
    COMMAND_CODE.call,
    {
      ...{ 1: 'text', 2: 'text', 3: 'bytes', 4: PAIR, 5: 'text', 6: 'text', 7: 'text', 8: 'text' },
      ...{ 10: 'number', 11: 'number', 12: 'text' },
    },
  ],
  [
    COMMAND_CODE['one-way-call'],
    {
      ...{ 1: 'text', 2: 'text', 3: 'bytes', 4: 'long', 5: PAIR, 6: 'text', 7: 'text', 8: 'text' },
      ...{ 9: 'text', 10: 'number', 12: 'text' },
    },
  ],
  [
    COMMAND_CODE['send-signal'],
    { 1: 'text', 2: 'number', 3: 'text', 4: VOID, 5: VALUE, 6: FAILURE, 12: 'text' },
  ],
  [COMMAND_CODE.run, { 11: 'number', 12: 'text' }],
  [COMMAND_CODE['attach-invocation'], ATTACHMENT],
  [COMMAND_CODE['get-invocation-output'], ATTACHMENT],
  [COMMAND_CODE['complete-awakeable'], { 1: 'text', 2: VALUE, 3: FAILURE, 12: 'text' }],
];

/** A frame with a payload that fits its type, spoilt now and then, or noise of any type. */
export function handlerFrame(chance: Chance): OutgoingFrame {
  const ackRequested = chance.yes(0.2);
  if (chance.yes(0.1)) {
    const type = chance.yes() ? chance.pick(SHAPES)[0] : chance.number() & 0xffff;
    return { type, payload: chance.bytes(chance.length(200)), ackRequested };
  }
  const [type, shape] = chance.pick(SHAPES);
  const payload = messageOf(chance, shape);
  return { type, payload: chance.yes(0.15) ? mutateBytes(chance, payload) : payload, ackRequested };
}

/** Cuts bytes at random places; empty pieces included. */
export function splitBytes(chance: Chance, bytes: Uint8Array): Uint8Array[] {
  const count = chance.yes(0.1) ? chance.below(60) : chance.below(6);
  const cuts = chance.list(count, () => chance.below(bytes.length + 1)).sort((a, b) => a - b);
  return [...cuts, bytes.length].map((cut, i) => bytes.subarray(cuts[i - 1] ?? 0, cut));
}
