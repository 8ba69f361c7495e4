/** Ways of one kind, one to each address, made when first needed. */

/** Something that is reached at one address. */
export interface Way {
  stop(): void;
}

export class Ways<Kind extends Way> {
  readonly #byAddress = new Map<string, Kind>();
  readonly #make: (address: string) => Kind;

  constructor(make: (address: string) => Kind) {
    this.#make = make;
  }

  to(address: string): Kind {
    let way = this.#byAddress.get(address);
    if (way === undefined) {
      way = this.#make(address);
      this.#byAddress.set(address, way);
    }
    return way;
  }

  /** Closes those to other addresses. */
  keep(addresses: ReadonlySet<string>): void {
    for (const [address, way] of [...this.#byAddress]) {
      if (addresses.has(address)) continue;
      this.#byAddress.delete(address);
      way.stop();
    }
  }
}
