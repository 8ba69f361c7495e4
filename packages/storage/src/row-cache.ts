/**
 * Bounded cache in two generations: a row that is used moves to the young one, and when that is full the old one is dropped.
 * Costs one map look-up per hit. Rows that are not durable yet are pinned: they survive every turn. A generation that began with
 * pinned rows takes as many others before the next turn, so however many rows one record has, each is carried on a few times.
 */

export interface CacheLimits {
  /** Rows of one table that are kept, pinned ones aside. */
  readonly rowsMax: number;
  /** Payload bytes of one table that are kept, pinned rows aside. */
  readonly bytesMax: number;
}

/**
 * Per table of a partition. A row of average size takes about half a KiB of memory, and two tables (invocation, journal) fill
 * under load: some 8 MiB and the payloads for each busy partition.
 */
export const CACHE_LIMITS_DEFAULT: CacheLimits = {
  rowsMax: 8_192,
  bytesMax: 4 * 1024 * 1024,
};

export interface Cached {
  /** Payload bytes, for the limit. */
  bytes: number;
}

export class RowCache<Cell extends Cached> {
  readonly #rowsMax: number;
  readonly #bytesMax: number;
  readonly #isPinned: (cell: Cell) => boolean;
  #young = new Map<string, Cell>();
  #old = new Map<string, Cell>();
  #youngBytes = 0;
  /** Pinned rows with which the young generation began. */
  #carriedRows = 0;
  /** The cell asked for last: a decision asks for the same row several times in a row. */
  #lastKey: string | undefined;
  #lastCell: Cell | undefined;

  constructor(limits: CacheLimits, isPinned: (cell: Cell) => boolean) {
    this.#rowsMax = Math.ceil(limits.rowsMax / 2);
    this.#bytesMax = Math.ceil(limits.bytesMax / 2);
    this.#isPinned = isPinned;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): Cell | undefined {
    if (key === this.#lastKey) return this.#lastCell;
    const cell = this.#young.get(key) ?? this.#rejuvenate(key);
    if (cell === undefined) return undefined;
    this.#remember(key, cell);
    return cell;
  }

  /** Adds a cell that is not in the cache. */
  add(key: string, cell: Cell): void {
    if (this.#isYoungFull) this.#turn();
    this.#young.set(key, cell);
    this.#youngBytes += cell.bytes;
    this.#remember(key, cell);
  }

  /** Notes that a cell in the cache changed its size. */
  resize(cell: Cell, bytes: number): void {
    this.#youngBytes += Math.max(0, bytes - cell.bytes);
    cell.bytes = bytes;
  }

  clear(): void {
    this.#remember(undefined, undefined);
    this.#young.clear();
    this.#old.clear();
    this.#youngBytes = 0;
    this.#carriedRows = 0;
  }

  get #isYoungFull(): boolean {
    const isOverLimit = this.#young.size >= this.#rowsMax || this.#youngBytes >= this.#bytesMax;
    return isOverLimit && this.#young.size >= 2 * this.#carriedRows;
  }

  #rejuvenate(key: string): Cell | undefined {
    const aged = this.#old.get(key);
    if (aged === undefined) return undefined;
    this.#old.delete(key);
    this.add(key, aged);
    return aged;
  }

  #remember(key: string | undefined, cell: Cell | undefined): void {
    this.#lastKey = key;
    this.#lastCell = cell;
  }

  /** Effects: forgets the older half, also as the cell asked for last. */
  #turn(): void {
    this.#remember(undefined, undefined);
    const dropped = this.#old;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
    for (const [key, cell] of dropped) {
      if (!this.#isPinned(cell)) continue;
      this.#young.set(key, cell);
      this.#youngBytes += cell.bytes;
    }
    this.#carriedRows = this.#young.size;
  }
}
