/** What the tests of this room share: a schema with one service of each type, a partition that answers as told, a client. */

import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { request as requestHttp1 } from 'node:http';
import {
  DEFAULT_RETRY_POLICY,
  loadHashes,
  SchemaLookup,
  type DeploymentId,
  type HandlerSchema,
  type PartitionAnswer,
  type PartitionRequest,
  type ServiceSchema,
} from '@engine/domain';
import { systemClock, systemRandom, systemScheduler } from '@engine/runtime';
import type { PartitionChannel, SentRequest } from '@engine/wire';
import { DEFAULT_INGRESS_CONFIG, type IngressConfig } from './config-shape.js';
import type { IngressDependencies } from './context.js';
import { Ingress } from './service.js';

const DAY_MS = 86_400_000;
const JSON_INPUT = { required: false, contentType: 'application/json', jsonSchema: undefined };

export function handler(name: string, parts: Partial<HandlerSchema> = {}): HandlerSchema {
  return {
    name,
    type: undefined,
    input: JSON_INPUT,
    output: undefined,
    ingressPrivate: undefined,
    documentation: undefined,
    metadata: {},
    options: {},
    ...parts,
  };
}

function service(
  name: string,
  type: ServiceSchema['type'],
  handlers: readonly HandlerSchema[],
): ServiceSchema {
  return {
    name,
    type,
    revision: 1,
    handlers,
    ingressPrivate: false,
    documentation: undefined,
    metadata: {},
    options: {},
  };
}

/** Greeter (service), Counter (virtual object), Flow (workflow), Old (service of an outdated deployment). */
export function testSchema(more: readonly HandlerSchema[] = []): SchemaLookup {
  const services = [
    service('Greeter', 'service', [
      handler('greet'),
      handler('hidden', { ingressPrivate: true }),
      ...more,
    ]),
    service('Counter', 'virtual-object', [
      handler('add', { type: 'exclusive' }),
      handler('get', { type: 'shared' }),
    ]),
    service('Flow', 'workflow', [
      handler('run', { type: 'workflow' }),
      handler('stage', { type: 'shared' }),
    ]),
  ];
  const deployment = {
    id: 'dp_test' as DeploymentId,
    endpoint: { kind: 'http', uri: 'http://localhost:9080', httpVersion: 'HTTP/2.0' },
    protocolMode: 'bidi-stream',
    additionalHeaders: {},
    metadata: {},
    createdAt: 0,
    minProtocolVersion: 5,
    maxProtocolVersion: 7,
    sdkVersion: undefined,
    services,
  } as const;
  const old = {
    ...deployment,
    id: 'dp_old' as DeploymentId,
    minProtocolVersion: 3,
    maxProtocolVersion: 4,
    services: [service('Old', 'service', [handler('greet')])],
  };
  return new SchemaLookup(
    { deployments: [deployment, old] },
    {
      inactivityTimeoutMs: 60_000,
      abortTimeoutMs: 60_000,
      journalRetentionMs: DAY_MS,
      idempotencyRetentionMs: DAY_MS / 2,
      workflowCompletionRetentionMs: DAY_MS / 4,
      retryPolicy: DEFAULT_RETRY_POLICY,
    },
  );
}

/** A partition that answers each request with what `answer` says, undefined = never. Echoes calls unless told otherwise. */
export class ScriptedPartition implements PartitionChannel {
  readonly requests: PartitionRequest[] = [];
  readonly withdrawn: PartitionRequest[] = [];
  readonly unanswered: ((answer: PartitionAnswer) => void)[] = [];
  answer: (request: PartitionRequest) => PartitionAnswer | undefined = echo;

  send(request: PartitionRequest, respond: (answer: PartitionAnswer) => void): SentRequest {
    this.requests.push(request);
    const answer = this.answer(request);
    if (answer === undefined) this.unanswered.push(respond);
    else
      queueMicrotask(() => {
        respond(answer);
      });
    return { withdraw: () => this.withdrawn.push(request) };
  }

  get last(): PartitionRequest | undefined {
    return this.requests.at(-1);
  }
}

export function echo(request: PartitionRequest): PartitionAnswer {
  switch (request.kind) {
    case 'invoke':
      return request.awaits === 'result'
        ? success(request.invocation.payload)
        : { kind: 'submitted', isNew: true, executionTime: undefined };
    case 'attach':
      return { kind: 'not-found' };
    case 'signal':
    case 'cancel':
    case 'kill':
    case 'pause':
    case 'purge':
    case 'purge-journal':
    case 'resume':
    case 'restart-as-new':
    case 'replace-state':
      return { kind: 'operation', outcome: 'done' };
  }
}

export function success(value: Uint8Array | string, expiresAt?: number): PartitionAnswer {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  return {
    kind: 'result',
    result: { kind: 'success', value: bytes },
    expiresAt,
    target: undefined,
  };
}

export interface TestIngress extends AsyncDisposable {
  readonly ingress: Ingress;
  readonly partition: ScriptedPartition;
  readonly port: number;
}

export async function startIngress(
  config: Partial<IngressConfig> = {},
  dependencies: Partial<IngressDependencies> = {},
): Promise<TestIngress> {
  const partition = new ScriptedPartition();
  const schema = testSchema();
  const ingress = new Ingress(
    { ...DEFAULT_INGRESS_CONFIG, bindIp: '127.0.0.1', bindPort: 0, stopGraceMs: 50, ...config },
    {
      channel: partition,
      schema: () => schema,
      hashes: await loadHashes(),
      isReady: () => true,
      clock: systemClock,
      scheduler: systemScheduler,
      random: systemRandom,
      ...dependencies,
    },
  );
  await ingress.start();
  return {
    ingress,
    partition,
    port: ingress.port,
    [Symbol.asyncDispose]: () => ingress[Symbol.asyncDispose](),
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Question {
  readonly method?: string;
  readonly path: string;
  /** Names and values; repeated names are sent repeatedly. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string | Uint8Array;
  /** Send without a length. */
  readonly isChunked?: boolean;
}

/** Asks over HTTP/1. */
export function ask(port: number, question: Question): Promise<Answer> {
  const { method = 'GET', path, headers = [], body, isChunked = false } = question;
  const fields: Record<string, string | string[]> = {};
  for (const [name, value] of headers) {
    const known = fields[name];
    fields[name] = known === undefined ? value : [known, value].flat();
  }
  if (body !== undefined && !isChunked && fields['content-length'] === undefined) {
    fields['content-length'] = String(Buffer.byteLength(body));
  }
  return new Promise((resolve, reject) => {
    const request = requestHttp1(
      { host: '127.0.0.1', port, method, path, headers: fields, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    if (isChunked) request.flushHeaders();
    request.end(body);
  });
}

/** Asks over HTTP/2 with prior knowledge, on a connection of its own. */
export function askHttp2(port: number, question: Question): Promise<Answer> {
  const { method = 'GET', path, headers = [], body } = question;
  const session = connectHttp2(`http://127.0.0.1:${String(port)}`);
  return new Promise<Answer>((resolve, reject) => {
    const stream = session.request(
      { ':method': method, ':path': path, ...Object.fromEntries(headers) },
      { endStream: body === undefined },
    );
    const chunks: Buffer[] = [];
    let head: Answer['headers'] = {};
    stream.on('response', (fields) => {
      head = fields;
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      resolve({
        status: Number(head[':status']),
        headers: head,
        text: Buffer.concat(chunks).toString(),
      });
    });
    stream.on('error', reject);
    session.on('error', reject);
    if (body !== undefined) stream.end(body);
  }).finally(() => {
    session.close();
  });
}

/** Sends bytes as they are (one per character) and gives all that comes back until the server or `until` ends it. */
export function exchangeRaw(port: number, text: string, until: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1', () => {
      socket.write(Buffer.from(text, 'latin1'));
    });
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (until.test(received)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(received);
    });
  });
}

/** Sends bytes as they are and ends its side of the connection. Resolves when the server has ended the other side. */
export function hangUpAfter(port: number, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      socket.end(Buffer.from(text, 'latin1'));
    });
    socket.on('error', reject);
    socket.on('end', () => {
      socket.destroy();
      resolve();
    });
    socket.resume();
  });
}
