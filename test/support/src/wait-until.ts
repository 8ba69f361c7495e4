const POLL_MS = 20;
const LIMIT_MS = 30_000;

/**
 * Waits for a state, not for a time: polls until `state` gives something other than undefined and false.
 * @throws Error with `what` after the limit (30 s)
 */
export async function waitUntil<T>(
  what: string,
  state: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = LIMIT_MS,
): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    const value = await state();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`${what}: not within ${String(limitMs)} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
