const LIMIT_MS = 10_000;
const POLL_MS = 2;

/** Waits for a state, not for a time. Throws with `what` when it does not come within `limitMs`. */
export async function until(
  what: string,
  isSo: () => boolean,
  limitMs: number = LIMIT_MS,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`${what}: not within ${String(limitMs)} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
