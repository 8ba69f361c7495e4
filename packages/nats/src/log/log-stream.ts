/**
 * What the log needs of a stream, and no more: the seam between the rules of the log, which are ours, and JetStream. Its twin with
 * every fault that was seen is `SimulatedStream` in the contract; a suite holds both to the same answers.
 */

/** What came back for one publish. Nothing at all may come back too. */
export type AppendAnswer =
  /** Durable, as the stream's message of this sequence. */
  | { readonly kind: 'stored'; readonly sequence: number }
  /** The expected sequence was not the last one when somebody looked. Proves nothing: another copy may have landed, or a proposal may be dropped later. */
  | { readonly kind: 'wrong-last' }
  /** For want of space, or for its size. */
  | { readonly kind: 'refused'; readonly why: string }
  /** Nobody there who could take it. */
  | { readonly kind: 'unavailable'; readonly why: string };

export interface StoredMessage {
  /** The stream's own number of the message. */
  readonly sequence: number;
  readonly payload: Uint8Array;
}

export interface StreamState {
  /** Sequence of the oldest message; above `last` when there is none. */
  readonly first: number;
  /** Sequence of the newest message that ever was; 0 when there never was one. */
  readonly last: number;
  /** The clock of the server that leads the stream, in ms since 1970. */
  readonly now: number;
}

export interface AppendRequest {
  readonly payload: Uint8Array;
  /** The stream takes the message only as the one after this. */
  readonly expectedLast: number;
  /** Called at most once, later, also after a long time. */
  readonly onAnswer: (answer: AppendAnswer) => void;
}

export interface LogStream {
  /** Largest payload that a message may have. */
  readonly payloadBytesMax: number;
  /** Sends at once, or does nothing while there is no connection. Returns what forgets the answer. */
  publish(request: AppendRequest): () => void;
  /** The message of a sequence, as the stream's leader holds it; undefined when it has none. Rejects when nobody answers. */
  get(sequence: number): Promise<StoredMessage | undefined>;
  /** As the stream's leader says. Rejects when nobody answers. */
  state(): Promise<StreamState>;
  /**
   * The messages from a sequence on, in order, without end, as many at once as have come since the reader asked last, never none. Goes
   * on over failures. A message that is missing is skipped: the reader looks at the numbers. Rejects with the signal's reason.
   */
  messages(from: number, signal: AbortSignal): AsyncIterable<readonly StoredMessage[]>;
  /** Removes all messages below a sequence. */
  purgeBelow(sequence: number): Promise<void>;
  /** Calls `listener` each time that a connection is there again. */
  onReconnect(listener: () => void): Disposable;
}
