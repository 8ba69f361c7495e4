/**
 * What a handler says it waits for: a tree from version 7 on, before that a flat set (resume on any of them).
 *
 * Decoded by hand: the tree may legally be deeper than the generated decoder goes, and hostile ones must not exhaust the stack.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { limits, type AwaitCombinator, type AwaitTree, type NotificationId } from '@engine/domain';
import { MessageFault, violation, type ProtocolFault } from './fault.js';

const COMBINATORS: readonly AwaitCombinator[] = [
  'unknown',
  'first-completed',
  'all-completed',
  'first-succeeded-or-all-failed',
  'all-succeeded-or-first-failed',
];

const FIELD = {
  completions: 1,
  signals: 2,
  namedSignals: 3,
  nested: 4,
  combinator: 5,
} as const;

/** Field of the tree in a suspension and in the hint about what is awaited. */
export const SUSPENSION_TREE_FIELD = 4;
export const AWAITING_ON_TREE_FIELD = 1;

export type DecodedTree = { readonly kind: 'tree'; readonly tree: AwaitTree } | ProtocolFault;

/** Reads the flat layout of versions 5 and 6. Throws on undecodable bytes. */
export function decodeFlatSuspension(payload: Uint8Array): DecodedTree {
  const reader = new BinaryReader(payload);
  const leaves = new Leaves(reader);
  const children: AwaitTree[] = [];
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (!leaves.read(field, wireType, children)) reader.skip(wireType, field);
  }
  if (children.length === 0) return violation('suspension waits for nothing');
  return { kind: 'tree', tree: { kind: 'unknown', children } };
}

/**
 * Reads the tree in field `treeField` of `payload`. Throws on undecodable bytes.
 *
 * Faults: no tree or an empty node (RT0012), more than limits.AWAIT_DEPTH_MAX levels (RT0025).
 */
export function decodeTreeMessage(payload: Uint8Array, treeField: number): DecodedTree {
  const reader = new BinaryReader(payload);
  const leaves = new Leaves(reader);
  let decoded: DecodedTree | undefined;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === treeField && wireType === WireType.LengthDelimited) {
      decoded = decodeNode(leaves, readEnd(reader), 1);
      if (decoded.kind === 'fault') return decoded;
    } else {
      reader.skip(wireType, field);
    }
  }
  return decoded ?? violation('nothing is awaited');
}

function decodeNode(leaves: Leaves, end: number, depth: number): DecodedTree {
  if (depth > limits.AWAIT_DEPTH_MAX) {
    return {
      kind: 'fault',
      code: 'RT0025',
      message: `awaited futures are nested deeper than ${limits.AWAIT_DEPTH_MAX.toString()} levels`,
    };
  }
  const { reader } = leaves;
  const children: AwaitTree[] = [];
  let combinator: AwaitCombinator = 'unknown';
  while (reader.pos < end) {
    const [field, wireType] = reader.tag();
    if (leaves.read(field, wireType, children)) continue;
    switch (field) {
      case FIELD.nested: {
        const nested = decodeNode(leaves, readEnd(reader), depth + 1);
        if (nested.kind === 'fault') return nested;
        children.push(nested.tree);
        break;
      }
      case FIELD.combinator:
        combinator = COMBINATORS[reader.int32()] ?? 'unknown';
        break;
      default:
        reader.skip(wireType, field);
    }
  }
  if (children.length === 0) return violation('an awaited future is empty');
  return { kind: 'tree', tree: { kind: combinator, children } };
}

/** Reads the notifications that a message waits for: no more than a journal can hold, because each takes a byte here and far more decoded. */
class Leaves {
  readonly reader: BinaryReader;
  #count = 0;

  constructor(reader: BinaryReader) {
    this.reader = reader;
  }

  /** Reads the value of `field` into `children`; false, and nothing read, if it names no notification. */
  read(field: number, wireType: WireType, children: AwaitTree[]): boolean {
    switch (field) {
      case FIELD.completions:
        this.#numbers(wireType, (id) => children.push(single({ kind: 'completion', id })));
        return true;
      case FIELD.signals:
        this.#numbers(wireType, (index) => children.push(single({ kind: 'signal', index })));
        return true;
      case FIELD.namedSignals:
        this.#countOne();
        children.push(single({ kind: 'named-signal', name: this.reader.string() }));
        return true;
      default:
        return false;
    }
  }

  /** The packed and the plain form of repeated numbers. */
  #numbers(wireType: WireType, add: (value: number) => unknown): void {
    const { reader } = this;
    const end = wireType === WireType.LengthDelimited ? readEnd(reader) : reader.pos + 1;
    while (reader.pos < end) {
      this.#countOne();
      add(reader.uint32());
    }
  }

  #countOne(): void {
    this.#count += 1;
    if (this.#count > limits.JOURNAL_LENGTH_MAX) {
      throw new MessageFault(`waits for more than ${limits.JOURNAL_LENGTH_MAX.toString()} results`);
    }
  }
}

/** Reads the length of a part and returns the position where it ends. */
function readEnd(reader: BinaryReader): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > reader.len) throw new RangeError('truncated message');
  return end;
}

function single(id: NotificationId): AwaitTree {
  return { kind: 'single', id };
}
