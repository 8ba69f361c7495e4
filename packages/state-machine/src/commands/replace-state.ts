/** Replacement of the state of a key from outside, in its turn among the exclusive invocations of the key (SPEC STA-2). */

import type { OperationOutcome } from '@engine/domain';
import { limits } from '@engine/domain';
import { assertNever } from '@engine/stdx';

import type { ReplaceState } from '../command.js';
import type { Draft } from '../draft.js';
import { replaceInTurn } from '../turns.js';

export function replaceStateOf(draft: Draft, command: ReplaceState): OperationOutcome {
  const { service, key, expectedVersion, entries } = command;
  if (entries.length > limits.STATE_REPLACEMENT_ENTRIES_MAX) return 'limit-reached';
  const turn = replaceInTurn(draft, { service, key }, { expectedVersion, entries });
  switch (turn) {
    case 'now':
      return 'done';
    case 'later':
      return 'appended';
    case 'full':
      return 'limit-reached';
    default:
      return assertNever(turn);
  }
}
