/** Operations that are asked of one invocation at the partition that owns it. */

import {
  composeInvocationId,
  partitionKeyOf,
  ulidText,
  type DeploymentChoice,
  type InvocationId,
  type OperationOutcome,
  type PartitionRequest,
} from '@engine/domain';
import { assert, assertNever } from '@engine/stdx';
import { callPartition, type PartitionCallDependencies } from './partition-call.js';

/** What is asked, apart from the invocation that it is asked of. */
export type Operation =
  | { readonly kind: 'cancel' | 'kill' | 'pause' | 'purge' | 'purge-journal' }
  | { readonly kind: 'resume'; readonly deployment: DeploymentChoice }
  | {
      readonly kind: 'restart-as-new';
      /** Index of the last journal entry that is taken over; 0 = the input alone. */
      readonly copyUpTo: number;
      readonly deployment: DeploymentChoice;
    };

export type OperationKind = Operation['kind'];

export const OPERATION_KINDS = [
  'cancel',
  'kill',
  'pause',
  'resume',
  'restart-as-new',
  'purge',
  'purge-journal',
] as const satisfies readonly OperationKind[];

/** Where the operation goes, and the ids that make a repeat the same operation. */
export interface OperationTarget {
  readonly invocationId: InvocationId;
  /** Used by restart-as-new alone; must have the partition key of `invocationId`. */
  readonly newInvocationId: InvocationId;
  readonly requestId: string;
}

export interface InvocationOperationsDependencies extends PartitionCallDependencies {
  readonly newUlid: () => Uint8Array;
}

export class InvocationOperations {
  readonly #dependencies: InvocationOperationsDependencies;

  constructor(dependencies: InvocationOperationsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Fresh ids for an operation that is asked once. */
  target(invocationId: InvocationId): OperationTarget {
    const { newUlid } = this.#dependencies;
    const newInvocationId = composeInvocationId(partitionKeyOf(invocationId), newUlid());
    return { invocationId, newInvocationId, requestId: ulidText(newUlid()) };
  }

  /**
   * Resolves when the outcome is durable. Errors: `overloaded` when the partition takes no more work now; `unavailable` when it does
   * not answer in time or no leader can be reached, and then it is not known whether the operation takes place.
   */
  async run(operation: Operation, target: OperationTarget): Promise<OperationOutcome> {
    const answer = await callPartition(requestOf(operation, target), this.#dependencies);
    assert(answer.kind === 'operation', 'an operation is answered with its outcome');
    return answer.outcome;
  }
}

function requestOf(operation: Operation, target: OperationTarget): PartitionRequest {
  const { requestId, invocationId } = target;
  switch (operation.kind) {
    case 'cancel':
    case 'kill':
    case 'pause':
    case 'purge':
    case 'purge-journal':
      return { kind: operation.kind, requestId, invocationId };
    case 'resume':
      return { kind: 'resume', requestId, invocationId, deployment: operation.deployment };
    case 'restart-as-new': {
      const { copyUpTo, deployment } = operation;
      const { newInvocationId } = target;
      const { kind } = operation;
      return { kind, requestId, invocationId, newInvocationId, copyUpTo, deployment };
    }
    default:
      return assertNever(operation);
  }
}
