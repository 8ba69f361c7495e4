/**
 * Entry of the database thread. Takes one query after the other; DuckDB is loaded here and nowhere else.
 *
 * NOTE: only DuckDB, Node and files of this package may be imported here, because tests start this file from source.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase, type Database } from './database.js';
import type { LastAsk, QueryRequest, ThreadOptions } from './messages.js';
import { QueryChannel } from './query-channel.js';
import { QueryFailure } from './query-failure.js';
import { runQuery } from './run-query.js';

const opening = openDatabase(workerData as ThreadOptions);

/** An interrupt that comes just before a statement starts has no effect, so it is repeated until the query ends. */
const INTERRUPT_EVERY_MS = 20;

async function serve({ statement, port }: QueryRequest): Promise<void> {
  const database = await opening;
  const interrupts = repeatInterrupts(database);
  const channel = new QueryChannel(port, interrupts.start);
  let last: LastAsk = { kind: 'done' };
  try {
    await runQuery(database, channel, statement);
  } catch (error) {
    // Any other error is a bug: it ends the thread, and the query with it.
    if (!(error instanceof QueryFailure)) throw error;
    last = { kind: 'failed', failure: error.failure, message: error.message };
  }
  interrupts.end();
  await database.emptyFilled();
  channel.end(last);
}

function repeatInterrupts(database: Database): {
  readonly start: () => void;
  readonly end: () => void;
} {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  return {
    start: () => {
      if (isOver) return;
      database.interrupt();
      timer ??= setInterval(() => {
        database.interrupt();
      }, INTERRUPT_EVERY_MS);
    },
    end: () => {
      isOver = true;
      clearInterval(timer);
    },
  };
}

parentPort?.on('message', (request: QueryRequest) => void serve(request));
