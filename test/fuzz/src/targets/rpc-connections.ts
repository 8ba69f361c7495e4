/** Connections to the port between nodes as bytes: HTTP/2 with calls of the worker's and the node's service, mostly sane. */

import { concatBytes } from '@engine/stdx';
import {
  appliedToWire,
  messageBatchToWire,
  NodeServiceDefinition,
  partitionRequestToWire,
  reportsToWire,
  WorkerServiceDefinition,
} from '@engine/wire';
import {
  arbitraryApplied,
  arbitraryBatch,
  arbitraryReports,
  arbitraryRequest,
} from '@engine/wire/contract';

import type { Chance } from '../chance.js';
import { samplesOf } from '../corpora.js';
import { mutateBytes } from '../mutate.js';
import {
  END_HEADERS,
  END_STREAM,
  frame,
  literal,
  PREFACE,
  TYPE,
  TYPES_MAX,
} from './http2-frames.js';

const POST_OVER_HTTP = Uint8Array.of(0x83, 0x86);
const FRAME_BYTES_MAX = 16_384;

/** The path of a method, and valid bytes of what it is asked. */
interface Method {
  readonly path: string;
  readonly corpus: readonly Uint8Array[];
}

/** What a caller of this cluster says of itself. */
const INTRODUCTION: readonly (readonly [string, string])[] = [
  ['engine-cluster', 'fuzz'],
  ['engine-node', 'caller'],
  ['engine-protocol', '1-1'],
  ['engine-store-format', '1-1'],
];

export function rpcMethods(): Method[] {
  const { exchange, deliver, scan, scanJournal, scanState } = WorkerServiceDefinition.methods;
  const { reports, stopLeading, applied } = NodeServiceDefinition.methods;
  const worker = `/${WorkerServiceDefinition.fullName}`;
  const node = `/${NodeServiceDefinition.fullName}`;
  const range = { after: undefined, limit: 10, partition: undefined };
  return [
    {
      path: `${worker}/${exchange.name}`,
      corpus: samplesOf(arbitraryRequest).map((request, index) =>
        exchange.requestType
          .encode({
            requests: [partitionRequestToWire(request)],
            withdrawn: index % 3 === 0 ? [request.requestId, 'r'] : [],
          })
          .finish(),
      ),
    },
    {
      path: `${worker}/${deliver.name}`,
      corpus: samplesOf(arbitraryBatch).map((batch) =>
        deliver.requestType.encode({ batches: [messageBatchToWire(batch)] }).finish(),
      ),
    },
    {
      path: `${worker}/${scan.name}`,
      corpus: [scan.requestType.encode({ ids: ['inv_1', 'x'], ...range }).finish()],
    },
    {
      path: `${worker}/${scanJournal.name}`,
      corpus: [scanJournal.requestType.encode({ id: 'inv_1', ...range }).finish()],
    },
    {
      path: `${worker}/${scanState.name}`,
      corpus: [scanState.requestType.encode({ service: 's', key: 'k', ...range }).finish()],
    },
    { path: `${node}/${reports.name}`, corpus: [reports.requestType.encode({}).finish()] },
    {
      path: `${node}/${stopLeading.name}`,
      corpus: [0, 1, 65_534, 65_535, 0xffff_ffff].map((partition) =>
        stopLeading.requestType.encode({ partition, epoch: 2n ** 60n }).finish(),
      ),
    },
    {
      path: `${node}/${applied.name}`,
      corpus: [0, 70_000].map((partition) => applied.requestType.encode({ partition }).finish()),
    },
    // Nothing that a caller sends, and no service that there is.
    {
      path: '/engine.node.v2.NodeService/Reports',
      corpus: [
        ...samplesOf(arbitraryReports, 20).map((each) =>
          reports.responseType.encode(reportsToWire(each)).finish(),
        ),
        ...samplesOf(arbitraryApplied, 20).map((each) =>
          applied.responseType.encode(appliedToWire(each)).finish(),
        ),
      ],
    },
  ];
}

export function rpcConnection(chance: Chance, methods: readonly Method[]): Uint8Array {
  const parts = [PREFACE, frame({ type: TYPE.settings, flags: 0, stream: 0 }, new Uint8Array(0))];
  const count = chance.yes(0.6) ? 1 : chance.between(2, 4);
  for (let i = 0; i < count; i += 1) {
    if (chance.yes(0.1)) parts.push(oddFrame(chance, 1 + 2 * i));
    parts.push(...callFrames(chance, { method: chance.pick(methods), methods, stream: 1 + 2 * i }));
  }
  return concatBytes(parts);
}

function callFrames(
  chance: Chance,
  call: { readonly method: Method; readonly methods: readonly Method[]; readonly stream: number },
): Uint8Array[] {
  const { method, methods, stream } = call;
  const head = frame(
    { type: TYPE.headers, flags: END_HEADERS | (chance.yes(0.05) ? END_STREAM : 0), stream },
    headerBlock(chance, method.path),
  );
  const messages = chance.list(chance.yes(0.7) ? 1 : chance.below(5), () =>
    grpcMessage(chance, chance.pick((chance.yes(0.9) ? method : chance.pick(methods)).corpus)),
  );
  const body = concatBytes(messages);
  const isEnded = chance.yes(0.7);
  const frames = [head];
  for (let from = 0; from < body.length || from === 0; from += FRAME_BYTES_MAX) {
    const isLast = from + FRAME_BYTES_MAX >= body.length;
    const flags = isLast && isEnded ? END_STREAM : 0;
    frames.push(
      frame({ type: TYPE.data, flags, stream }, body.subarray(from, from + FRAME_BYTES_MAX)),
    );
  }
  return frames;
}

/** One byte that says whether it is compressed, the length, the bytes. */
function grpcMessage(chance: Chance, valid: Uint8Array): Uint8Array {
  const bytes = chance.yes() ? valid : mutateBytes(chance, valid);
  const prefix = new Uint8Array(5);
  const length = chance.yes(0.95) ? bytes.length : chance.number();
  new DataView(prefix.buffer).setUint32(1, length);
  if (chance.yes(0.05)) prefix[0] = chance.below(256);
  return concatBytes([prefix, bytes]);
}

function headerBlock(chance: Chance, path: string): Uint8Array {
  const fields: (readonly [string, string])[] = [
    [':path', chance.yes(0.97) ? path : `/${chance.text(chance.length(30))}`],
    [':authority', 'worker'],
    ['content-type', chance.yes(0.97) ? 'application/grpc' : 'text/plain'],
    ['te', 'trailers'],
    ...INTRODUCTION.filter(() => chance.yes(0.99)),
  ];
  if (chance.yes(0.1)) fields.push(['grpc-timeout', chance.pick(['1n', '50m', '99999999H', 'x'])]);
  if (chance.yes(0.1)) fields.push(['grpc-encoding', chance.pick(['gzip', 'deflate', 'x'])]);
  if (chance.yes(0.05)) fields.push(['grpc-accept-encoding', chance.text(chance.length(20))]);
  if (chance.yes(0.05)) fields.push(['x-bin', chance.text(chance.length(20))]);
  if (chance.yes(0.05)) fields.push(chance.pick(INTRODUCTION));
  if (chance.yes(0.05)) fields.push(['engine-protocol', chance.text(chance.length(12))]);
  return concatBytes([
    POST_OVER_HTTP,
    ...fields.map(([name, value]) => literal(name, latin1(value))),
  ]);
}

function latin1(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '%');
}

function oddFrame(chance: Chance, stream: number): Uint8Array {
  const flags = chance.u32() & 0xff;
  const head = { type: chance.below(TYPES_MAX), flags, stream: chance.yes() ? stream : 0 };
  return frame(head, chance.bytes(chance.length(40)));
}
