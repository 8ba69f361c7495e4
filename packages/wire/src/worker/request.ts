/** Requests of ingress and admin, and their answers. */

import type {
  DeploymentChoice,
  DeploymentId,
  InvocationId,
  OperationOutcome,
  PartitionAnswer,
  PartitionRequest,
  UnavailableReason,
} from '@engine/domain';

import { enumCodec, missing, required } from '../codec.js';
import * as gen from '../gen/engine/worker/v1/request.js';
import { bareRequestFromWire, bareRequestToWire } from '../store/message.js';
import {
  notificationIdFromWire,
  notificationIdToWire,
  notificationResultFromWire,
  notificationResultToWire,
} from '../store/notification.js';
import { resultFromWire, resultToWire } from '../store/result.js';

const O = gen.OperationOutcome;
const A = gen.Awaits;
const U = gen.UnavailableReason;

const outcomes = enumCodec<OperationOutcome, gen.OperationOutcome>('operation outcome', {
  done: O.OPERATION_OUTCOME_DONE,
  appended: O.OPERATION_OUTCOME_APPENDED,
  'not-found': O.OPERATION_OUTCOME_NOT_FOUND,
  'already-completed': O.OPERATION_OUTCOME_ALREADY_COMPLETED,
  'not-completed': O.OPERATION_OUTCOME_NOT_COMPLETED,
  unchanged: O.OPERATION_OUTCOME_UNCHANGED,
  'not-started': O.OPERATION_OUTCOME_NOT_STARTED,
  'not-running': O.OPERATION_OUTCOME_NOT_RUNNING,
  'still-running': O.OPERATION_OUTCOME_STILL_RUNNING,
  'journal-missing': O.OPERATION_OUTCOME_JOURNAL_MISSING,
  'workflow-unsupported': O.OPERATION_OUTCOME_WORKFLOW_UNSUPPORTED,
  'journal-position-invalid': O.OPERATION_OUTCOME_JOURNAL_POSITION_INVALID,
  'deployment-not-found': O.OPERATION_OUTCOME_DEPLOYMENT_NOT_FOUND,
  'deployment-not-changeable': O.OPERATION_OUTCOME_DEPLOYMENT_NOT_CHANGEABLE,
  'deployment-incompatible': O.OPERATION_OUTCOME_DEPLOYMENT_INCOMPATIBLE,
  'limit-reached': O.OPERATION_OUTCOME_LIMIT_REACHED,
});

const awaits = enumCodec<'submission' | 'result', gen.Awaits>('awaits', {
  submission: A.AWAITS_SUBMISSION,
  result: A.AWAITS_RESULT,
});

const reasons = enumCodec<UnavailableReason, gen.UnavailableReason>('reason', {
  overloaded: U.UNAVAILABLE_REASON_OVERLOADED,
  stopping: U.UNAVAILABLE_REASON_STOPPING,
  'not-leader': U.UNAVAILABLE_REASON_NOT_LEADER,
  disconnected: U.UNAVAILABLE_REASON_DISCONNECTED,
});

export function partitionRequestToWire(request: PartitionRequest): gen.PartitionRequest {
  return { requestId: request.requestId, request: requestPartToWire(request) };
}

function requestPartToWire(request: PartitionRequest): gen.PartitionRequest['request'] {
  switch (request.kind) {
    case 'invoke': {
      const invocation = bareRequestToWire(request.invocation);
      return { $case: 'invoke', value: { invocation, awaits: awaits.toWire[request.awaits] } };
    }
    case 'attach': {
      const { invocationId, blocking } = request;
      return { $case: 'attach', value: { invocationId, blocking } };
    }
    case 'signal': {
      const value = {
        invocationId: request.invocationId,
        id: notificationIdToWire(request.id),
        result: notificationResultToWire(request.result),
      };
      return { $case: 'signal', value };
    }
    case 'cancel':
    case 'kill':
    case 'pause':
    case 'purge':
      return { $case: request.kind, value: { invocationId: request.invocationId } };
    case 'purge-journal':
      return { $case: 'purgeJournal', value: { invocationId: request.invocationId } };
    case 'resume': {
      const deployment = choiceToWire(request.deployment);
      return { $case: 'resume', value: { invocationId: request.invocationId, deployment } };
    }
    case 'restart-as-new': {
      const { invocationId, newInvocationId, copyUpTo } = request;
      const deployment = choiceToWire(request.deployment);
      const value = { invocationId, newInvocationId, copyUpTo, deployment };
      return { $case: 'restartAsNew', value };
    }
    case 'replace-state': {
      const { service, key, expectedVersion } = request;
      const value = { service, key, expectedVersion, entries: [...request.entries] };
      return { $case: 'replaceState', value };
    }
  }
}

function choiceToWire(choice: DeploymentChoice): gen.DeploymentChoice {
  switch (choice.kind) {
    case 'keep':
      return { choice: { $case: 'keep', value: {} } };
    case 'latest':
      return { choice: { $case: 'latest', value: {} } };
    case 'fixed':
      return { choice: { $case: 'deploymentId', value: choice.deploymentId } };
  }
}

function choiceFromWire(message: gen.DeploymentChoice | undefined): DeploymentChoice {
  const choice = message?.choice;
  switch (choice?.$case) {
    case 'keep':
      return { kind: 'keep' };
    case 'latest':
      return { kind: 'latest' };
    case 'deploymentId':
      return { kind: 'fixed', deploymentId: choice.value as DeploymentId };
    case undefined:
      return missing('choice of a deployment');
  }
}

/** Throws EngineError `storage` when the message is no request of a known kind. */
export function partitionRequestFromWire(message: gen.PartitionRequest): PartitionRequest {
  const { requestId, request } = message;
  switch (request?.$case) {
    case 'invoke':
      return {
        kind: 'invoke',
        requestId,
        invocation: bareRequestFromWire(required(request.value.invocation, 'invocation')),
        awaits: awaits.fromWire(request.value.awaits),
      };
    case 'attach':
      return {
        kind: 'attach',
        requestId,
        invocationId: request.value.invocationId as InvocationId,
        blocking: request.value.blocking,
      };
    case 'signal':
      return {
        kind: 'signal',
        requestId,
        invocationId: request.value.invocationId as InvocationId,
        id: notificationIdFromWire(request.value.id),
        result: notificationResultFromWire(request.value.result),
      };
    case 'cancel':
    case 'kill':
    case 'pause':
    case 'purge': {
      const invocationId = request.value.invocationId as InvocationId;
      return { kind: request.$case, requestId, invocationId };
    }
    case 'purgeJournal': {
      const invocationId = request.value.invocationId as InvocationId;
      return { kind: 'purge-journal', requestId, invocationId };
    }
    case 'resume': {
      const invocationId = request.value.invocationId as InvocationId;
      const deployment = choiceFromWire(request.value.deployment);
      return { kind: 'resume', requestId, invocationId, deployment };
    }
    case 'restartAsNew':
      return {
        kind: 'restart-as-new',
        requestId,
        invocationId: request.value.invocationId as InvocationId,
        newInvocationId: request.value.newInvocationId as InvocationId,
        copyUpTo: request.value.copyUpTo,
        deployment: choiceFromWire(request.value.deployment),
      };
    case 'replaceState': {
      const { service, key, expectedVersion, entries } = request.value;
      return { kind: 'replace-state', requestId, service, key, expectedVersion, entries };
    }
    case undefined:
      return missing('request');
  }
}

/** An answer together with the id of the request that it answers. */
export function partitionAnswerToWire(
  requestId: string,
  answer: PartitionAnswer,
): gen.PartitionAnswer {
  return { requestId, answer: answerPartToWire(answer) };
}

function answerPartToWire(answer: PartitionAnswer): gen.PartitionAnswer['answer'] {
  switch (answer.kind) {
    case 'submitted': {
      const { isNew, executionTime } = answer;
      return { $case: 'submitted', value: { isNew, executionTime } };
    }
    case 'result': {
      const { expiresAt, target } = answer;
      const result = resultToWire(answer.result);
      return { $case: 'result', value: { result, expiresAt, target } };
    }
    case 'not-found':
      return { $case: 'notFound', value: {} };
    case 'not-ready':
      return { $case: 'notReady', value: {} };
    case 'operation':
      return { $case: 'operation', value: outcomes.toWire[answer.outcome] };
    case 'unavailable':
      return { $case: 'unavailable', value: reasons.toWire[answer.reason] };
  }
}

/** The answer in a message; its request id is read from the message itself. */
export function partitionAnswerFromWire({ answer }: gen.PartitionAnswer): PartitionAnswer {
  switch (answer?.$case) {
    case 'submitted': {
      const { isNew, executionTime } = answer.value;
      return { kind: 'submitted', isNew, executionTime };
    }
    case 'result': {
      const { expiresAt, target } = answer.value;
      return { kind: 'result', result: resultFromWire(answer.value.result), expiresAt, target };
    }
    case 'notFound':
      return { kind: 'not-found' };
    case 'notReady':
      return { kind: 'not-ready' };
    case 'operation':
      return { kind: 'operation', outcome: outcomes.fromWire(answer.value) };
    case 'unavailable':
      return { kind: 'unavailable', reason: reasons.fromWire(answer.value) };
    case undefined:
      return missing('answer');
  }
}
