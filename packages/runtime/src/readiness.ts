/**
 * Whether this process can take work, and if not, what is missing. Every part registers under a name and reports; the
 * health pages answer 200 only while nothing is missing.
 */
export class Readiness {
  readonly #missing = new Map<string, string>();
  readonly #waiting = new Set<() => void>();

  get isReady(): boolean {
    return this.#missing.size === 0;
  }

  /** Part name → why it is not ready, for a health page or the start screen. */
  get missing(): ReadonlyMap<string, string> {
    return this.#missing;
  }

  notReady(part: string, why: string): void {
    this.#missing.set(part, why);
  }

  ready(part: string): void {
    this.#missing.delete(part);
    if (!this.isReady) return;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Resolves at once when nothing is missing, else as soon as that is so. Rejects with the signal's reason. */
  whenReady(signal: AbortSignal): Promise<void> {
    if (this.isReady) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(wake);
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      const wake = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      if (signal.aborted) {
        onAbort();
        return;
      }
      this.#waiting.add(wake);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
