/** What other nodes may ask of this process: the services of the roles that it has, behind a port. */

import { isEngineError } from '@engine/domain';
import type { Clock, Scheduler, Service } from '@engine/runtime';
import type {
  InvocationScan,
  JournalScan,
  NodeControl,
  nodeWire,
  PartitionChannel,
  PartitionPeer,
  SchemaFollower,
  StateScan,
  wire,
} from '@engine/wire';
import {
  Server,
  ServerCredentials,
  type handleUnaryCall,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';

import { channelOptions } from '../client/dialer.js';
import { hearGrpc, onHandlerFailed } from '../events.js';
import type { Introduction } from '../handshake.js';
import { STOP_GRACE_MS } from '../limits.js';
import {
  APPLIED,
  DELIVER,
  EXCHANGE,
  REACH_SCHEMA,
  REPORTS,
  SCAN,
  SCAN_JOURNAL,
  SCAN_STATE,
  STOP_LEADING,
} from '../methods.js';
import { toStatus } from '../status.js';
import { TlsFiles, type TlsOptions } from '../tls-files.js';
import type { AckReturn } from './ack-return.js';
import { DeliverCall, type DeliverStream } from './deliver-call.js';
import { ExchangeCall, type ExchangeStream } from './exchange-call.js';
import { FrontDoor } from './front-door.js';
import { greet } from './greeting.js';
import { NodeCalls } from './node-calls.js';
import { scanJournalPage, scanPage, scanStatePage } from './scan-pages.js';

export interface RpcServerOptions {
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
  readonly introduction: Introduction;
  /** Largest message between nodes, the same in all of them. */
  readonly messageBytesMax: number;
  /** Undefined: plain text. */
  readonly tls: TlsOptions | undefined;
  readonly keepaliveMs?: number | undefined;
}

/** What a process that hosts partitions serves. */
export interface WorkerServices {
  readonly channel: PartitionChannel;
  readonly peer: Pick<PartitionPeer, 'deliver'>;
  readonly scans: InvocationScan & JournalScan & StateScan;
  /** How acknowledgements find back; the worker's peer gives them to it. */
  readonly acks: AckReturn;
}

/** Calls of a service that is left out are refused as `incompatible`. */
export interface RpcServerDependencies {
  readonly worker?: WorkerServices | undefined;
  readonly node?: NodeControl | undefined;
  readonly schema?: SchemaFollower | undefined;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
}

const WORKER_SERVICE = {
  EXCHANGE,
  DELIVER,
  SCAN,
  SCAN_JOURNAL,
  SCAN_STATE,
} satisfies ServiceDefinition;

const NODE_SERVICE = { REPORTS, STOP_LEADING, APPLIED } satisfies ServiceDefinition;

const SCHEMA_SERVICE = { REACH_SCHEMA } satisfies ServiceDefinition;

export class RpcServer implements Service {
  readonly #options: RpcServerOptions;
  readonly #dependencies: RpcServerDependencies;
  readonly #server: Server;
  readonly #door: FrontDoor;

  /** Throws EngineError RT0002 when a TLS file cannot be read. */
  constructor(options: RpcServerOptions, dependencies: RpcServerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    hearGrpc();
    this.#server = new Server(channelOptions(options));
    const { worker, node, schema } = dependencies;
    if (worker !== undefined) {
      this.#server.addService(WORKER_SERVICE, this.#workerHandlers(worker));
    }
    if (node !== undefined) {
      this.#server.addService(NODE_SERVICE, this.#nodeHandlers(new NodeCalls(node)));
    }
    if (schema !== undefined) {
      this.#server.addService(SCHEMA_SERVICE, this.#schemaHandlers(schema));
    }
    const injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    const { tls } = options;
    const files = tls === undefined ? undefined : new TlsFiles(tls, dependencies.clock);
    this.#door = new FrontDoor(files, (connection) => {
      injector.injectConnection(connection);
    });
  }

  /** Only after `start`. */
  get port(): number {
    return this.#door.port;
  }

  /** Connections that are open, whatever is spoken on them. */
  get connectionCount(): number {
    return this.#door.connectionCount;
  }

  /** Errors: RT0004 when the address cannot be listened on. */
  async start(): Promise<void> {
    await this.#door.open(this.#options.host, this.#options.port);
  }

  /** Effects: no new calls; open ones get a moment, then their connections are cut. Streams end when their peers close them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#door.close();
    const { scheduler } = this.#dependencies;
    await new Promise<void>((resolve) => {
      const limit = scheduler.after(STOP_GRACE_MS, () => {
        this.kill();
        resolve();
      });
      this.#server.tryShutdown(() => {
        limit.cancel();
        resolve();
      });
    });
    this.kill();
  }

  /** Ends at once, as a crash would. */
  kill(): void {
    this.#server.forceShutdown();
    this.#door.cut();
  }

  #workerHandlers({ channel, peer, scans, acks }: WorkerServices): UntypedServiceImplementation {
    const { scheduler } = this.#dependencies;
    const { messageBytesMax } = this.#options;
    return {
      EXCHANGE: this.#stream((stream: ExchangeStream) => {
        new ExchangeCall(stream, { channel, scheduler, messageBytesMax }).serve();
      }),
      DELIVER: this.#stream((stream: DeliverStream) => {
        new DeliverCall(stream, { peer, acks, scheduler }).serve();
      }),
      SCAN: this.#unary((request: wire.ScanRequest) => scanPage(scans, request)),
      SCAN_JOURNAL: this.#unary((request: wire.ScanJournalRequest) =>
        scanJournalPage(scans, request),
      ),
      SCAN_STATE: this.#unary((request: wire.ScanStateRequest) => scanStatePage(scans, request)),
    };
  }

  #nodeHandlers(calls: NodeCalls): UntypedServiceImplementation {
    return {
      REPORTS: this.#unary(() => calls.reports()),
      STOP_LEADING: this.#unary((request: nodeWire.StopLeadingRequest) =>
        calls.stopLeading(request),
      ),
      APPLIED: this.#unary((request: nodeWire.AppliedRequest) => calls.applied(request)),
    };
  }

  #schemaHandlers(schema: SchemaFollower): UntypedServiceImplementation {
    return {
      REACH_SCHEMA: this.#unary(
        async ({ version }: nodeWire.ReachSchemaRequest): Promise<nodeWire.ReachSchemaResponse> => {
          await schema.reachSchema(version);
          return {};
        },
      ),
    };
  }

  #stream<Stream extends ExchangeStream | DeliverStream>(
    serve: (stream: Stream) => void,
  ): (stream: Stream) => void {
    return (stream) => {
      const greeting = greet(stream, this.#options.introduction);
      if ('refusal' in greeting) stream.emit('error', greeting.refusal);
      else serve(stream);
    };
  }

  #unary<Request, Response>(
    answer: (request: Request) => Promise<Response>,
  ): handleUnaryCall<Request, Response> {
    return (call, respond) => {
      const greeting = greet(call, this.#options.introduction);
      if ('refusal' in greeting) {
        respond(greeting.refusal);
        return;
      }
      answer(call.request).then(
        (response) => {
          respond(null, response);
        },
        (error: unknown) => {
          if (!isPassing(error)) onHandlerFailed(call.getPath(), error);
          respond(toStatus(error));
        },
      );
    };
  }
}

/** What a worker says while partitions move, and nobody has to look at. */
function isPassing(error: unknown): boolean {
  return isEngineError(error) && error.code === 'unavailable';
}
