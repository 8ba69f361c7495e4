/** SQL over what the server knows. */

import { z } from 'zod';
import type { AdminContext } from '../context.js';
import { sendStream } from './compression.js';
import { readBody } from './request.js';
import type { Route } from './routes.js';

export const queryBody = z.object({ query: z.string().describe('One SELECT statement.') });

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
        await sendStream(response, answer);
      },
    },
  ];
}
