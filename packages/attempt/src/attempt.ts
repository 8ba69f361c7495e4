/**
 * One attempt of one invocation, as a machine: what happens goes in, what to do comes out. It holds the rules of the service protocol
 * and nothing else: no socket, no clock, no storage. The driver performs the outputs in order and feeds back what is durable.
 *
 * It is total: any input in any state gives outputs, never an error. After `suspended`, `ended` or `failed` only silence follows.
 */
import { limits, type AttemptFailure } from '@engine/domain';
import {
  commandAckFrame,
  decodeHandlerMessage,
  encodeFrame,
  encodePieces,
  FrameDecoder,
  isLargeFrame,
  notificationFrame,
  PROTOCOL_VERSION_TREES,
  replayFrame,
  runCompletionAckFrame,
  startFrame,
  type HandlerCommand,
  type HandlerError,
  type HandlerMessage,
  type OutgoingFrame,
  type ProtocolFault,
} from '@engine/service-protocol';
import { assert, assertNever } from '@engine/stdx';
import type { AttemptInput, AttemptOutput, AttemptStart } from './attempt-io.js';
import { reportedFailure, serverFailure } from './failures.js';
import { judgeHead } from './response-head.js';

type Terminal = Extract<AttemptOutput, { kind: 'suspended' | 'ended' | 'failed' }>;
type StoredNotification = Extract<AttemptInput, { kind: 'notification-stored' }>;
type CommandMessage = Extract<HandlerMessage, { kind: 'command' }>;

const NOTHING: readonly AttemptOutput[] = [];
const CLOSE_REQUEST: AttemptOutput = { kind: 'close-request' };
const ENDED: AttemptOutput & Terminal = { kind: 'ended' };

export class Attempt {
  readonly #start: AttemptStart;
  readonly #decoder: FrameDecoder;
  /** Completion ids of proposals of this attempt whose sender wants an acknowledgement instead of the notification. */
  readonly #proposalsToAcknowledge = new Set<number>();
  #isFinished = false;
  #isRequestOpen = true;
  /** True from a response head on that lets the body count. */
  #isHeadAccepted = false;
  /** Commands in the journal, input included, and those given out since. */
  #commandCount = 0;
  #hasOutput = false;
  /** Entries below this index were written to the handler or came from it. */
  #writtenEntries: number;

  constructor(start: AttemptStart) {
    assert(start.journal[0]?.kind === 'input', 'a journal begins with the input');
    this.#start = start;
    this.#writtenEntries = start.journal.length;
    this.#decoder = new FrameDecoder(start.messageSizeBytesMax + limits.MESSAGE_OVERHEAD_BYTES_MAX);
    for (const entry of start.journal) {
      if (entry.kind === 'notification') continue;
      this.#commandCount += 1;
      if (entry.kind === 'output') this.#hasOutput = true;
    }
  }

  /** True after the attempt suspended, ended or failed. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Bytes of a message that began to come and is not whole, received or not; 0 = none. */
  get expectedBytes(): number {
    return this.#decoder.expectedBytes;
  }

  /** The first outputs: start and replay in one write; where nothing can follow, the end of the request. Call it once. */
  begin(): readonly AttemptOutput[] {
    const { journal, protocolVersion } = this.#start;
    const frames: OutgoingFrame[] = [this.#startFrame()];
    for (const entry of journal) frames.push(replayFrame(entry, protocolVersion));
    const writes = writesOf(frames);
    if (this.#start.mode === 'bidi') return writes;
    this.#isRequestOpen = false;
    return [...writes, CLOSE_REQUEST];
  }

  /** Takes what happened and gives what to do, in this order. */
  step(input: AttemptInput): readonly AttemptOutput[] {
    if (this.#isFinished) return NOTHING;
    switch (input.kind) {
      case 'response-head':
        return this.#onHead(input);
      case 'response-data':
        return this.#onData(input.chunk);
      case 'response-end':
        return this.#fail(this.#earlyEnd());
      case 'transport-error':
        return this.#fail(serverFailure('RT0010', input.message));
      case 'notification-stored':
        return this.#onNotification(input);
      case 'command-stored':
        return this.#isRequestOpen ? writeOf(commandAckFrame(input.commandIndex)) : NOTHING;
      case 'command-refused':
        return this.#fail(input.failure);
      case 'inactivity-timeout':
        if (!this.#isRequestOpen) return NOTHING;
        this.#isRequestOpen = false;
        return [CLOSE_REQUEST];
      case 'abort-timeout':
        return this.#fail(
          serverFailure('RT0001', 'the handler sent nothing within the abort timeout'),
        );
      default:
        return assertNever(input);
    }
  }

  #startFrame(): OutgoingFrame {
    const start = this.#start;
    return startFrame({
      invocationId: start.invocationId,
      knownEntries: start.journal.length,
      state: start.state.entries,
      isStateComplete: start.state.complete,
      key: start.target.key,
      retryCountSinceLastCommand: start.retryCountSinceLastCommand,
      durationSinceLastEntryMs: start.durationSinceLastEntryMs,
      randomSeed: start.randomSeed,
    });
  }

  #onHead(head: Extract<AttemptInput, { kind: 'response-head' }>): readonly AttemptOutput[] {
    if (this.#isHeadAccepted) return NOTHING;
    const fault = judgeHead(head, this.#start.protocolVersion);
    if (fault !== undefined) return this.#fail(fault.failure, { retryDelayMs: fault.retryDelayMs });
    this.#isHeadAccepted = true;
    return NOTHING;
  }

  #onData(chunk: Uint8Array): readonly AttemptOutput[] {
    if (!this.#isHeadAccepted) {
      return this.#fail(serverFailure('RT0012', 'the response has a body without a head'));
    }
    this.#decoder.push(chunk);
    const outputs: AttemptOutput[] = [];
    while (!this.#isFinished) {
      const frame = this.#decoder.next();
      if (frame === undefined) break;
      const message =
        frame.kind === 'fault' ? frame : decodeHandlerMessage(frame, this.#start.protocolVersion);
      this.#onMessage(message, outputs);
    }
    return outputs;
  }

  #onMessage(message: HandlerMessage, outputs: AttemptOutput[]): void {
    switch (message.kind) {
      case 'command':
        outputs.push(this.#commandOutput(message));
        return;
      case 'propose-run-completion': {
        const { completionId, result } = message;
        if (message.ackRequested && this.#start.protocolVersion >= PROTOCOL_VERSION_TREES) {
          this.#proposalsToAcknowledge.add(completionId);
        }
        outputs.push({ kind: 'run-completion', completionId, result });
        return;
      }
      case 'awaiting-on':
        outputs.push({ kind: 'awaiting', awaitingOn: message.awaitingOn });
        return;
      case 'suspension': {
        const { awaitingOn } = message;
        const knownEntries = this.#entriesSeen();
        outputs.push(...this.#finish({ kind: 'suspended', awaitingOn, knownEntries }));
        return;
      }
      case 'end':
        outputs.push(...this.#onEnd());
        return;
      case 'error':
        outputs.push(...this.#onError(message.error));
        return;
      case 'fault':
        outputs.push(...this.#onFault(message));
        return;
      default:
        assertNever(message);
    }
  }

  #commandOutput({ command, ackRequested }: CommandMessage): AttemptOutput {
    const commandIndex = this.#commandCount;
    this.#commandCount += 1;
    if (isOutput(command)) this.#hasOutput = true;
    return { kind: 'command', command, commandIndex, ackRequested };
  }

  #onEnd(): readonly AttemptOutput[] {
    if (this.#hasOutput) return this.#finish(ENDED);
    return this.#fail(serverFailure('RT0012', 'the handler ended without an output'));
  }

  #onError(error: HandlerError): readonly AttemptOutput[] {
    const { behavior, nextRetryDelayMs: asked } = error;
    const retryDelayMs =
      asked === undefined ? undefined : Math.min(asked, limits.RETRY_DELAY_MS_MAX);
    return this.#fail(reportedFailure(error), { behavior, retryDelayMs });
  }

  #onFault(fault: ProtocolFault): readonly AttemptOutput[] {
    const behavior = fault.code === 'RT0025' ? 'pause' : 'retry';
    return this.#fail(serverFailure(fault.code, fault.message), { behavior });
  }

  /** Every stored notification goes to the handler while the request is open; afterwards only a new attempt can learn of it. */
  #onNotification({ index, entry }: StoredNotification): readonly AttemptOutput[] {
    if (!this.#isRequestOpen) return NOTHING;
    this.#writtenEntries = Math.max(this.#writtenEntries, index + 1);
    const isAcknowledged =
      entry.type === 'run' &&
      entry.id.kind === 'completion' &&
      this.#proposalsToAcknowledge.delete(entry.id.id);
    const frame = isAcknowledged
      ? runCompletionAckFrame(entry.id.id)
      : notificationFrame(entry, this.#start.protocolVersion);
    return writeOf(frame);
  }

  /**
   * Journal entries that the handler has certainly seen when it suspends. A handler that reads to the end of the request has seen all
   * that was written. One that suspends before that may have missed the latest, so only the replay counts: waking it once too often is
   * harmless, never waking it is not.
   */
  #entriesSeen(): number {
    return this.#isRequestOpen ? this.#start.journal.length : this.#writtenEntries;
  }

  #earlyEnd(): AttemptFailure {
    if (!this.#isHeadAccepted) {
      return serverFailure('RT0010', 'the connection ended before a response came');
    }
    const torn = this.#decoder.bufferedBytes > 0 ? ' in the middle of a message' : '';
    return serverFailure('RT0007', `unknown: the response ended${torn} before the handler did`);
  }

  #fail(
    failure: AttemptFailure,
    how: {
      readonly behavior?: 'retry' | 'pause' | 'fail';
      readonly retryDelayMs?: number | undefined;
    } = {},
  ): readonly AttemptOutput[] {
    return this.#finish({
      kind: 'failed',
      failure,
      behavior: how.behavior ?? 'retry',
      retryDelayMs: how.retryDelayMs,
      reachedHandler: this.#isHeadAccepted,
    });
  }

  /** Ends the attempt. The SDK ends its response only after the request has ended. */
  #finish(terminal: Terminal): readonly AttemptOutput[] {
    this.#isFinished = true;
    if (!this.#isRequestOpen) return [terminal];
    this.#isRequestOpen = false;
    return [terminal, CLOSE_REQUEST];
  }
}

function isOutput(command: HandlerCommand): boolean {
  return command.type === 'output';
}

function writeOf(frame: OutgoingFrame): AttemptOutput[] {
  return isLargeFrame(frame) ? writesOf([frame]) : [{ kind: 'write', bytes: encodeFrame(frame) }];
}

/** Small frames in one write; a large payload in one of its own, as it is. */
function writesOf(frames: readonly OutgoingFrame[]): AttemptOutput[] {
  return encodePieces(frames).map((bytes) => ({ kind: 'write', bytes }));
}
