/** Port of the ordered store of bytes under partitions and metadata. Order: byte by byte. */

export interface KvEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export interface KvRange {
  readonly gte: Uint8Array;
  readonly lt: Uint8Array;
  /** At most so many entries. */
  readonly limit: number;
  /** True: from the upper end downwards. */
  readonly reverse?: boolean;
}

/** Where rows are put that will be written together. */
export interface RowSink {
  /** Effects: copies key and value; the last operation on a key wins. */
  put(key: Uint8Array, value: Uint8Array): void;
  /** Effects: copies the key. Deleting what is not there is no error. */
  del(key: Uint8Array): void;
}

export interface KvBatch extends RowSink {
  /**
   * Applies all or nothing. When it resolves, reads see it, and with `sync` it survives a power cut together with everything
   * written before. A rejection after `sync` says nothing about what is on disk: stop using the store. Call it once.
   */
  write(options: { readonly sync: boolean }): Promise<void>;
}

/** A store that can hand out a large range as it was at one moment. */
export interface RangeReader {
  /**
   * Everything from `gte` to below `lt` as of the call, in order, in pages of up to about 1 MiB and never empty. Until the iteration
   * ends or is left the store keeps what is replaced meanwhile: take minutes at most. Iterate it once.
   */
  pages(range: Pick<KvRange, 'gte' | 'lt'>): AsyncIterable<readonly KvEntry[]>;
}

export interface KvReader {
  /** Synchronous point read; the caller owns the bytes. */
  get(key: Uint8Array): Uint8Array | undefined;
  /** One page of a range as of one moment, at the call or after it. */
  scan(range: KvRange): Promise<readonly KvEntry[]>;
}

export interface KvStore extends KvReader {
  batch(): KvBatch;
  /** Waits for writes under way. After it every call fails with EngineError `storage`. */
  close(): Promise<void>;
}
