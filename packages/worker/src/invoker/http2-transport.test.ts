import { createServer as createServer1, type Server as Http1Server } from 'node:http';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import type { HttpVersion } from '@engine/domain';
import { systemClock, systemScheduler } from '@engine/runtime';
import { decodeUtf8, Deferred, encodeUtf8 } from '@engine/stdx';

import { deployment } from '../testing/test-worker.js';
import type { ExchangeListener, ExchangeRequest } from './deployment-transport.js';
import { EndpointTransport } from './endpoint-transport.js';

class Heard implements ExchangeListener {
  readonly events: string[] = [];
  readonly over = new Deferred<undefined>();
  readonly first = new Deferred<undefined>();

  onHead(status: number, headers: Readonly<Record<string, string | undefined>>): void {
    this.events.push(`head ${String(status)} ${headers['content-type'] ?? ''}`);
  }

  onData(chunk: Uint8Array): void {
    this.events.push(`data ${decodeUtf8(chunk)}`);
    this.first.resolve(undefined);
  }

  onEnd(): void {
    this.events.push('end');
    this.over.resolve(undefined);
  }

  onError(message: string): void {
    this.events.push(`error ${message}`);
    this.over.resolve(undefined);
  }
}

type Answer = (stream: ServerHttp2Stream, path: string) => void;

const opened: { close(): unknown }[] = [];

afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});

async function listening(server: Http2Server | Http1Server): Promise<number> {
  opened.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

function serve(answer: Answer): Promise<number> {
  const server = createServer();
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    answer(stream, String(headers[':path']));
  });
  return listening(server);
}

function requestTo(port: number, httpVersion: HttpVersion = 'HTTP/2.0'): ExchangeRequest {
  const uri = `http://127.0.0.1:${String(port)}/base?q=1`;
  return {
    deployment: { ...deployment([]), endpoint: { kind: 'http', uri, httpVersion } },
    path: '/invoke/Greeter/greet',
    serviceKey: undefined,
    headers: { 'content-type': 'application/x', 'x-own': 'yes' },
  };
}

function makeTransport(): EndpointTransport {
  const transport = new EndpointTransport({
    clock: systemClock,
    scheduler: systemScheduler,
    functions: { invoke: () => Promise.reject(new Error('no function is asked')) },
    signer: undefined,
  });
  opened.push({
    close: () => {
      transport[Symbol.dispose]();
    },
  });
  return transport;
}

describe('HTTP/2 transport', () => {
  it('streams both ways at once and ends in good order', async () => {
    const port = await serve((stream, path) => {
      stream.respond({ ':status': 200, 'content-type': 'application/y' });
      stream.write(path);
      stream.on('data', (chunk: Uint8Array) => stream.write(chunk));
      stream.on('end', () => stream.end());
    });
    const heard = new Heard();
    const exchange = makeTransport().open(requestTo(port), heard);
    exchange.write(encodeUtf8('ping'));
    await heard.first.promise;
    exchange.closeRequest();
    await heard.over.promise;
    expect(heard.events[0]).toBe('head 200 application/y');
    expect(heard.events.slice(1, -1).join('').replaceAll('data ', '')).toBe(
      '/base/invoke/Greeter/greet?q=1ping',
    );
    expect(heard.events.at(-1)).toBe('end');
  });

  it('reports a response that ends before the request', async () => {
    const port = await serve((stream) => {
      stream.respond({ ':status': 404 });
      stream.end('gone');
    });
    const heard = new Heard();
    const exchange = makeTransport().open(requestTo(port), heard);
    exchange.write(encodeUtf8('ping'));
    await heard.over.promise;
    expect(heard.events).toEqual(['head 404 ', 'data gone', 'end']);
    exchange.closeRequest();
    exchange.reset();
  });

  it('reports a reset stream as an error, once', async () => {
    const port = await serve((stream) => {
      stream.respond({ ':status': 200 });
      stream.write('some');
      setImmediate(() => stream.destroy(new Error('out of order')));
    });
    const heard = new Heard();
    makeTransport().open(requestTo(port), heard);
    await heard.over.promise;
    expect(heard.events.filter((event) => event.startsWith('error'))).toHaveLength(1);
    expect(heard.events).not.toContain('end');
  });

  it('reports a deployment that is not there', async () => {
    const heard = new Heard();
    const transport = makeTransport();
    transport.open(requestTo(1), heard).write(encodeUtf8('ping'));
    await heard.over.promise;
    expect(heard.events).toHaveLength(1);
    expect(heard.events[0]).toContain('ECONNREFUSED');
    const again = new Heard();
    transport.open(requestTo(1), again);
    await again.over.promise;
    expect(again.events[0]).toContain('ECONNREFUSED');
  });

  it('opens a new connection after the peer went away', async () => {
    let sessions = 0;
    const server = createServer();
    server.on('session', (session) => {
      sessions += 1;
      session.on('error', () => undefined);
    });
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('bye');
      stream.session?.goaway();
    });
    const port = await listening(server);
    const transport = makeTransport();
    for (let turn = 0; turn < 2; turn += 1) {
      const heard = new Heard();
      const exchange = transport.open(requestTo(port), heard);
      await heard.over.promise;
      exchange.closeRequest();
      expect(heard.events.at(-1)).toBe('end');
    }
    expect(sessions).toBe(2);
  });

  it('says nothing after a reset', async () => {
    const seen = new Deferred<undefined>();
    const port = await serve((stream) => {
      stream.respond({ ':status': 200 });
      stream.write('x');
      stream.on('close', () => {
        seen.resolve(undefined);
      });
    });
    const heard = new Heard();
    const exchange = makeTransport().open(requestTo(port), heard);
    await heard.first.promise;
    exchange.reset();
    await seen.promise;
    expect(heard.events).toEqual(['head 200 ', 'data x']);
  });

  it('turns a header that cannot be sent into an error', async () => {
    const heard = new Heard();
    const request = { ...requestTo(1), headers: { 'bad name': 'x' } };
    makeTransport().open(request, heard);
    expect(heard.events).toEqual([]);
    await heard.over.promise;
    expect(heard.events[0]).toMatch(/^error /);
  });
});

describe('HTTP/1.1 transport', () => {
  it('streams both ways and keeps the connection', async () => {
    let connections = 0;
    const server = createServer1((incoming, response) => {
      response.writeHead(200, { 'content-type': 'application/y' });
      incoming.on('data', (chunk: Uint8Array) => response.write(chunk));
      incoming.on('end', () => response.end(incoming.url));
    });
    server.on('connection', () => {
      connections += 1;
    });
    const port = await listening(server);
    const transport = makeTransport();
    for (let turn = 0; turn < 2; turn += 1) {
      const heard = new Heard();
      const exchange = transport.open(requestTo(port, 'HTTP/1.1'), heard);
      exchange.write(encodeUtf8('ping'));
      await heard.first.promise;
      exchange.closeRequest();
      await heard.over.promise;
      expect(heard.events).toEqual([
        'head 200 application/y',
        'data ping',
        'data /base/invoke/Greeter/greet?q=1',
        'end',
      ]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(connections).toBe(1);
  });

  it('reports a response that is cut off', async () => {
    const server = createServer1((_incoming, response) => {
      response.writeHead(200);
      response.write('half');
      setImmediate(() => response.destroy());
    });
    const port = await listening(server);
    const heard = new Heard();
    makeTransport().open(requestTo(port, 'HTTP/1.1'), heard).write(encodeUtf8('ping'));
    await heard.over.promise;
    expect(heard.events.at(-1)).toMatch(/^error /);
    expect(heard.events.filter((event) => event.startsWith('error'))).toHaveLength(1);
  });

  it('reports a deployment that is not there', async () => {
    const heard = new Heard();
    makeTransport().open(requestTo(1, 'HTTP/1.1'), heard);
    await heard.over.promise;
    expect(heard.events).toHaveLength(1);
    expect(heard.events[0]).toContain('ECONNREFUSED');
  });
});
