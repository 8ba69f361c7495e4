import type { RequestHandler } from 'express';
import { HttpProblem, RETRY_AFTER } from './problem.js';

/** Health has to be told at all times, most of all when there is much to do. */
const UNLIMITED = /^(\/v\d+)?\/health$/;

/** Refuses requests with 429 while `requestsMax` others are in work. Undefined = no limit. */
export function limitRequests(requestsMax: number | undefined): RequestHandler {
  let count = 0;
  return (request, response, next) => {
    if (requestsMax === undefined || UNLIMITED.test(request.path)) {
      next();
      return;
    }
    if (count >= requestsMax) {
      throw new HttpProblem(429, 'too many requests at a time', RETRY_AFTER);
    }
    count += 1;
    response.once('close', () => {
      count -= 1;
    });
    next();
  };
}
