/** A partition that is nothing but a table of invocations: takes operations, is scanned, and can be made to refuse or to fall silent. */

import {
  CANCEL_SIGNAL_INDEX,
  composeInvocationId,
  EngineError,
  invocationIdFromBytes,
  VOID,
  type Invocation,
  type InvocationId,
  type InvocationStatus,
  type OperationOutcome,
  type PartitionAnswer,
  type PartitionRequest,
  type Source,
} from '@engine/domain';
import {
  IRREVOCABLE,
  type InvocationScan,
  type InvocationSnapshot,
  type JournalScan,
  type JournalScanOptions,
  type JournalSnapshot,
  type PartitionChannel,
  type ScanOptions,
  type SentRequest,
} from '@engine/wire';

/** What is told of an invocation; the rest is made up. */
export type Described = Partial<Pick<Invocation, 'target' | 'createdAt' | 'pin' | 'retry'>> & {
  readonly status: InvocationStatus;
  readonly hasFailed?: boolean;
};

const TARGET: Invocation['target'] = {
  kind: 'service',
  service: 'Greeter',
  key: undefined,
  handler: 'greet',
};

export function worldId(number: number): InvocationId {
  const uuid = new Uint8Array(16);
  new DataView(uuid.buffer).setUint32(12, number);
  return composeInvocationId(BigInt(number), uuid);
}

export const UNKNOWN_ID = invocationIdFromBytes(new Uint8Array(24).fill(0xee));

export class InvocationWorld implements PartitionChannel, InvocationScan, JournalScan {
  readonly rows = new Map<InvocationId, InvocationSnapshot>();
  /** Every request that had an effect, as `kind id`. */
  readonly effects: string[] = [];
  readonly requests: PartitionRequest[] = [];
  readonly cancelled = new Set<InvocationId>();
  scannedCount = 0;
  /** Makes scans fail. */
  canBeScanned = true;
  /** Called before a request is decided; what it returns is the answer instead, `silent` stands for none. */
  intercept: (request: PartitionRequest) => PartitionAnswer | 'silent' | undefined = () =>
    undefined;
  /** Called after an effect, before its answer; true keeps the answer back for good. */
  losesAnswer: (request: PartitionRequest) => boolean = () => false;

  add(id: InvocationId, described: Described, source?: Source): void {
    const { hasFailed, ...given } = described;
    const row = {
      target: TARGET,
      createdAt: 0,
      journalLength: 1,
      source: source ?? { kind: 'ingress', requestId: 'r' },
      ...given,
    };
    const failure = hasFailed === true ? { code: 500, message: 'broken', metadata: [] } : undefined;
    this.rows.set(id, {
      id,
      invocation: row as unknown as Invocation,
      live: undefined,
      failure,
      awaiting: undefined,
    });
  }

  statusOf(id: InvocationId): InvocationStatus | undefined {
    return this.rows.get(id)?.invocation.status;
  }

  send(request: PartitionRequest, respond: (answer: PartitionAnswer) => void): SentRequest {
    this.requests.push(request);
    const intercepted = this.intercept(request);
    if (intercepted === 'silent') return IRREVOCABLE;
    const answer = intercepted ?? { kind: 'operation', outcome: this.#decide(request) };
    if (!this.losesAnswer(request)) setImmediate(respond, answer);
    return IRREVOCABLE;
  }

  async *scan({ ids, limit, after }: ScanOptions): AsyncGenerator<InvocationSnapshot> {
    await Promise.resolve();
    if (!this.canBeScanned) throw new EngineError('storage', 'a row cannot be read');
    const order =
      ids ?? [...this.rows.keys()].sort().filter((id) => after === undefined || id > after);
    for (const id of order.slice(0, limit)) {
      const row = this.rows.get(id);
      this.scannedCount += 1;
      if (row !== undefined) yield row;
    }
  }

  async *scanJournal({ id, after }: JournalScanOptions): AsyncGenerator<JournalSnapshot> {
    await Promise.resolve();
    const index = (after?.index ?? -1) + 1;
    if (id === undefined || !this.cancelled.has(id)) return;
    const signal = { kind: 'signal', index: CANCEL_SIGNAL_INDEX } as const;
    const entry = { kind: 'notification', type: 'signal', id: signal, result: VOID } as const;
    yield { id, index, entry: { ...entry, appendedAt: 0 } };
  }

  #decide(request: PartitionRequest): OperationOutcome {
    if (!('invocationId' in request)) throw new Error(`${request.kind} is not for this world`);
    const { kind, invocationId: id } = request;
    const status = this.statusOf(id);
    if (status === undefined) return 'not-found';
    const isAtEnd = status === 'completed';
    switch (kind) {
      case 'kill':
        return isAtEnd ? 'already-completed' : this.#move(request, 'completed');
      case 'cancel':
        return isAtEnd ? 'already-completed' : this.#cancel(request, status);
      case 'pause':
        if (isAtEnd) return 'already-completed';
        return status === 'paused' ? 'unchanged' : this.#move(request, 'paused');
      case 'resume':
        if (isAtEnd) return 'already-completed';
        return status === 'invoked' ? 'unchanged' : this.#move(request, 'invoked');
      case 'purge':
        return isAtEnd ? this.#move(request, undefined) : 'not-completed';
      case 'purge-journal':
        return isAtEnd ? this.#move(request, status) : 'not-completed';
      case 'restart-as-new':
        return isAtEnd ? this.#restart(request) : 'still-running';
      default:
        throw new Error(`${kind} is not for this world`);
    }
  }

  #cancel(request: PartitionRequest, status: InvocationStatus): OperationOutcome {
    if (!('invocationId' in request)) return 'not-found';
    if (status === 'scheduled' || status === 'inboxed') return this.#move(request, undefined);
    this.#happened(request);
    this.cancelled.add(request.invocationId);
    return 'appended';
  }

  #restart(request: Extract<PartitionRequest, { kind: 'restart-as-new' }>): OperationOutcome {
    const { invocationId, newInvocationId } = request;
    if (this.rows.has(newInvocationId)) return 'done';
    this.#happened(request);
    // A clock that is behind: the time of creation does not tell what is new.
    const source = { kind: 'restart-as-new', originalId: invocationId } as const;
    this.add(newInvocationId, { status: 'completed', createdAt: 0 }, source);
    return 'done';
  }

  #move(request: PartitionRequest, status: InvocationStatus | undefined): OperationOutcome {
    if (!('invocationId' in request)) return 'not-found';
    this.#happened(request);
    const row = this.rows.get(request.invocationId);
    if (status === undefined) this.rows.delete(request.invocationId);
    else if (row !== undefined) {
      this.rows.set(row.id, { ...row, invocation: { ...row.invocation, status } });
    }
    return 'done';
  }

  #happened(request: PartitionRequest): void {
    if ('invocationId' in request) this.effects.push(`${request.kind} ${request.invocationId}`);
  }
}
