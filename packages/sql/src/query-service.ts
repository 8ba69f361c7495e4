/** What the admin asks of introspection. */
export interface QueryService {
  /**
   * Runs one SELECT. Resolves with the first piece of the answer in hand; the pieces together are the JSON text
   * `{"rows":[…]}`. Must be read to its end or returned early; `signal` stops the query.
   *
   * Errors: `bad-request` when the statement is at fault, `overloaded` when too many queries wait, `unavailable` when
   * stopping, `internal` when the statement could not be carried out (unknown table or column, limits, run-time failures).
   */
  queryJson(statement: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}
