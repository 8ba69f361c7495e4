export { Attempt } from './attempt.js';
export type { AttemptInput, AttemptMode, AttemptOutput, AttemptStart } from './attempt-io.js';
