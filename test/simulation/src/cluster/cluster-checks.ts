/** All checkers of a cluster, told of everything that leaves a process. */

import type { PartitionAnswer, PartitionRequest, TargetKind } from '@engine/domain';
import type { MessageAck, MessageBatch } from '@engine/wire';

import { AttemptChecks } from '../checkers/attempt-checks.js';
import { DurabilityChecker } from '../checkers/durability.js';
import { EffectsChecker } from '../checkers/effects.js';
import { ExclusivityChecker } from '../checkers/exclusivity.js';
import { LeadersChecker } from '../checkers/leaders.js';
import { OverlapChecker } from '../checkers/overlap.js';
import { PausesChecker } from '../checkers/pauses.js';
import { ReadsChecker } from '../checkers/reads.js';
import { EPOCH_MS } from '../simulator/event-loop.js';
import type { ServerProcess } from '../simulator/process.js';
import { subjectOf } from '../simulator/request-subject.js';
import type { Lab } from '../workloads/lab.js';
import type { LogTruth } from './log-truth.js';

export interface ClusterChecksDependencies {
  readonly truth: LogTruth;
  readonly lab: Lab;
  readonly partitionCount: number;
  /** As the clock of the process says now, whether it runs or not. */
  readonly isLeaseHeld: (process: ServerProcess) => boolean;
  readonly kindOf: (service: string, handler: string) => TargetKind | undefined;
  readonly note: (text: string) => void;
}

export class ClusterChecks {
  readonly attempts: AttemptChecks;
  readonly overlap: OverlapChecker;
  readonly leaders: LeadersChecker;
  readonly #durability: DurabilityChecker;
  readonly #pauses: PausesChecker;
  readonly #reads: ReadsChecker;
  readonly #note: (text: string) => void;

  constructor(dependencies: ClusterChecksDependencies) {
    const { truth: view, lab, partitionCount, isLeaseHeld, kindOf, note } = dependencies;
    const { loop } = lab;
    this.#note = note;
    this.#durability = new DurabilityChecker({ view, lab, partitionCount });
    this.#pauses = new PausesChecker(lab);
    this.#reads = new ReadsChecker({
      view,
      lab,
      partitionCount,
      now: () => EPOCH_MS + loop.now,
    });
    this.overlap = new OverlapChecker(lab, isLeaseHeld);
    this.leaders = new LeadersChecker({
      truth: view,
      lab,
      onLeading: (life, partition, { epoch, sequence }) => {
        note(`${life} leads ${String(partition)} in ${String(epoch)} from ${String(sequence)}`);
      },
    });
    this.attempts = new AttemptChecks({
      lab,
      note,
      durability: this.#durability,
      effects: new EffectsChecker({ view, lab, partitionCount }),
      exclusivity: new ExclusivityChecker(lab, kindOf),
      pauses: this.#pauses,
      overlap: this.overlap,
    });
  }

  /** A caller asks, for the first time or again. */
  asked(request: PartitionRequest): void {
    this.#note(`request ${request.requestId} ${request.kind} ${subjectOf(request)}`);
    this.#durability.asked(request);
    this.#reads.asked(request);
  }

  /** A worker gets a request. */
  taken(process: ServerProcess, request: PartitionRequest): void {
    this.#note(`${process.name} takes ${request.requestId}`);
  }

  /** A worker answers. */
  answered(process: ServerProcess, request: PartitionRequest, answer: PartitionAnswer): void {
    this.#note(`answer ${request.requestId} ${request.kind} ${textOf(answer)} by ${process.name}`);
    if (answer.kind === 'unavailable') return;
    this.#durability.answered(request, answer);
    this.#pauses.answered(request, answer);
    this.#reads.answered(request, answer);
  }

  /** A worker sends messages of one of its partitions. */
  delivered(process: ServerProcess, batch: MessageBatch): void {
    const kinds = batch.messages.map((message) => message.kind).join();
    this.#note(
      `messages ${String(batch.sender)}→${String(batch.destination)} from ${String(batch.first)}, ${kinds} by ${process.name}`,
    );
    this.#durability.delivered(batch);
  }

  /** A worker says what one of its partitions has applied. */
  acknowledged(process: ServerProcess, ack: MessageAck): void {
    const { sender, destination, upTo } = ack;
    this.#note(`ack ${String(sender)}→${String(destination)} ${String(upTo)} by ${process.name}`);
    this.#durability.acknowledged(ack);
  }
}

function textOf(answer: PartitionAnswer): string {
  switch (answer.kind) {
    case 'operation':
      return answer.outcome;
    case 'unavailable':
      return answer.reason;
    default:
      return answer.kind;
  }
}
