/** The part of the S3 API that the server uses, on a port of this machine. Tests point the real AWS client at it. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Objects in one page of a list. */
const PAGE_OBJECTS = 400;

interface ObjectRequest {
  readonly method: string;
  readonly key: string;
  readonly body: Buffer;
}

export class S3StandIn implements AsyncDisposable {
  readonly bucket = 'the-bucket';
  readonly objects = new Map<string, Buffer>();
  readonly requests: { readonly method: string; readonly url: string }[] = [];
  /** Answers instead of the service; true = it answered. */
  refuse: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<S3StandIn> {
    const standIn = new S3StandIn();
    standIn.#server.listen(0, '127.0.0.1');
    await once(standIn.#server, 'listening');
    return standIn;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    this.requests.push({ method, url });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (this.refuse?.(request, response) === true) return;
    const { pathname, searchParams } = new URL(url, 'http://s3');
    const [, bucket = '', ...words] = pathname.split('/').map(decodeURIComponent);
    if (!(headers.authorization ?? '').startsWith('AWS4-HMAC-SHA256 Credential=the-key/')) {
      sendError(response, 403, 'AccessDenied');
    } else if (bucket !== this.bucket) sendError(response, 404, 'NoSuchBucket');
    else if (searchParams.get('list-type') === '2') this.#list(searchParams, response);
    else this.#object({ method, key: words.join('/'), body: Buffer.concat(chunks) }, response);
  }

  #object({ method, key, body }: ObjectRequest, response: ServerResponse): void {
    const found = this.objects.get(key);
    if (method === 'PUT') {
      this.objects.set(key, body);
      response.writeHead(200, { etag: '"1"' }).end();
    } else if (method === 'DELETE') {
      this.objects.delete(key);
      response.writeHead(204).end();
    } else if (found === undefined) sendError(response, 404, 'NoSuchKey');
    else response.writeHead(200, { 'content-length': found.length }).end(found);
  }

  #list(query: URLSearchParams, response: ServerResponse): void {
    const keys = [...this.objects.keys()].sort();
    const matching = keys.filter((key) => key.startsWith(query.get('prefix') ?? ''));
    const from = Number(query.get('continuation-token') ?? 0);
    const to = from + PAGE_OBJECTS;
    const isTruncated = to < matching.length;
    const contents = matching
      .slice(from, to)
      .map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`);
    const next = isTruncated ? `<NextContinuationToken>${String(to)}</NextContinuationToken>` : '';
    const body = `<IsTruncated>${String(isTruncated)}</IsTruncated>${next}${contents.join('')}`;
    sendXml(response, 200, `<ListBucketResult>${body}</ListBucketResult>`);
  }
}

export function sendError(response: ServerResponse, status: number, code: string): void {
  sendXml(response, status, `<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

function sendXml(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0" encoding="UTF-8"?>${body}`);
}
