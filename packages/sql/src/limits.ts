/** Limits of introspection queries. */

const MIB = 1024 * 1024;

/** Queries that wait for their turn; more are refused as overload. */
export const QUERIES_WAITING_MAX = 64;

/** Longest time of one query from its turn on, reading of its rows and sending of its answer included. */
export const QUERY_TIME_MS_MAX = 60_000;

/** How long a query that was told to stop may take to do so before its thread is ended. */
export const QUERY_STOP_MS_MAX = 5_000;

/** Memory of the database with all rows that a query reads; a query that needs more fails. */
export const DATABASE_MEMORY_BYTES_MAX = 256 * MIB;

/** Length of the text of a statement, in UTF-16 units. */
export const STATEMENT_LENGTH_MAX = 1024 * 1024;

/** Rows that cross to the database thread at a time; also the largest vector that the database takes. */
export const SCAN_BATCH_ROWS_MAX = 1_024;

/** Texts and bytes that cross at a time; a row that is larger crosses alone. */
export const SCAN_BATCH_BYTES_MAX = MIB;

/** Entries with more bytes are shown raw only: as JSON every byte takes up to four. */
export const ENTRY_JSON_BYTES_MAX = MIB;

/** Ids that a filter hands down to a scan; a longer list is read as "all rows". */
export const SCAN_IDS_MAX = 10_000;

/** Size from which a piece of the answer leaves the database thread. */
export const ANSWER_CHUNK_BYTES = 256 * 1024;

/** The thread and its memory are given back after this time without a query. */
export const THREAD_IDLE_MS_MAX = 5 * 60_000;
