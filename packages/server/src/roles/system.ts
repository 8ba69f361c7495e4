/** What every role gets from the machine. */

import { systemClock, systemRandom, systemScheduler, type Service } from '@engine/runtime';

export const system = { clock: systemClock, scheduler: systemScheduler, random: systemRandom };

/** Starts a part that is taken down with the others, in the opposite order. */
export async function startPart<Part extends Service>(
  parts: AsyncDisposableStack,
  part: Part,
): Promise<Part> {
  await part.start();
  return parts.use(part);
}
