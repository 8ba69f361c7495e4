/** Which links are cut, by the names of their ends. */
export class Cuts {
  readonly #alone = new Set<string>();
  readonly #pairs = new Map<string, Set<string>>();

  /** Without `other`: from everybody. */
  cut(name: string, other?: string): void {
    if (other === undefined) this.#alone.add(name);
    else
      for (const [a, b] of [[name, other] as const, [other, name] as const])
        this.#partners(a).add(b);
  }

  /** Without `name`: everything. Without `other`: all that was cut of it. */
  heal(name?: string, other?: string): void {
    if (name === undefined) {
      this.#alone.clear();
      this.#pairs.clear();
    } else if (other === undefined) {
      this.#alone.delete(name);
      for (const partner of this.#partners(name)) this.#partners(partner).delete(name);
      this.#pairs.delete(name);
    } else {
      this.#partners(name).delete(other);
      this.#partners(other).delete(name);
    }
  }

  get isEmpty(): boolean {
    return this.#alone.size === 0 && [...this.#pairs.values()].every(({ size }) => size === 0);
  }

  isCut(a: string, b: string): boolean {
    return this.#alone.has(a) || this.#alone.has(b) || this.#pairs.get(a)?.has(b) === true;
  }

  #partners(name: string): Set<string> {
    const partners = this.#pairs.get(name) ?? new Set<string>();
    this.#pairs.set(name, partners);
    return partners;
  }
}
