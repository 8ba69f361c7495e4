/** Who wants to hear of one kind of change. */
export class Listeners<T> {
  readonly #listeners = new Set<(value: T) => void>();

  add(listener: (value: T) => void): Disposable {
    // The same function may listen twice.
    const own = (value: T): void => {
      listener(value);
    };
    this.#listeners.add(own);
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(own);
      },
    };
  }

  tell(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}
