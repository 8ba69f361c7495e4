import type { Response } from 'express';
import { sendBytes } from './compression.js';

/** Sends JSON. The content type stands without parameters, because clients compare the whole value. */
export function sendJson(response: Response, value: unknown): void {
  response.setHeader('content-type', 'application/json');
  sendBytes(response, Buffer.from(JSON.stringify(value)));
}
