/** SQL over what the server knows. */

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { AdminContext } from '../context.js';
import { readBody } from './request.js';
import type { Route } from './routes.js';

const queryBody = z.object({ query: z.string() });

export function queryRoutes({ queries }: AdminContext): Route[] {
  return [
    {
      method: 'post',
      path: '/query',
      handle: async (request, response) => {
        const { query } = readBody(request, queryBody);
        const gone = new AbortController();
        response.once('close', () => {
          gone.abort();
        });
        const answer = await queries.queryJson(query, gone.signal);
        // Without express's charset: clients compare the whole value.
        response.setHeader('content-type', 'application/json');
        await pipeline(Readable.from(answer, { objectMode: false }), response);
      },
    },
  ];
}
