import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

import { afterEach, describe, expect, it } from '@jest/globals';
import { EngineError, type DeploymentEndpoint } from '@engine/domain';
import {
  REQUEST_BODY_BYTES_MAX,
  type FunctionRequest,
  type FunctionResponse,
} from '@engine/lambda';
import { readSigningKey, RequestSigner } from '@engine/request-identity';
import { systemClock, systemScheduler } from '@engine/runtime';
import { decodeUtf8, Deferred, encodeUtf8 } from '@engine/stdx';

import { deployment } from '../testing/test-worker.js';
import type { ExchangeListener, ExchangeRequest } from './deployment-transport.js';
import { EndpointTransport } from './endpoint-transport.js';

const FUNCTION: DeploymentEndpoint = {
  kind: 'lambda',
  arn: 'arn:aws:lambda:eu-west-1:1:function:f:1',
  assumeRoleArn: 'arn:aws:iam::1:role/r',
  compression: 'zstd',
};

class Heard implements ExchangeListener {
  readonly events: string[] = [];
  readonly over = new Deferred<undefined>();
  onFirst: () => void = () => undefined;

  onHead(status: number): void {
    this.events.push(`head ${String(status)}`);
    this.onFirst();
  }

  onData(chunk: Uint8Array): void {
    this.events.push(`data ${decodeUtf8(chunk)}`);
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

type Invoke = (request: FunctionRequest) => Promise<FunctionResponse>;

const transports: EndpointTransport[] = [];

afterEach(() => {
  for (const transport of transports.splice(0)) transport[Symbol.dispose]();
});

function transportTo(invoke: Invoke, signer?: RequestSigner): EndpointTransport {
  const transport = new EndpointTransport({
    clock: systemClock,
    scheduler: systemScheduler,
    functions: { invoke },
    signer,
  });
  transports.push(transport);
  return transport;
}

function requestTo(endpoint: DeploymentEndpoint, more: object = {}): ExchangeRequest {
  return {
    deployment: { ...deployment([]), endpoint },
    path: '/invoke/Cart/add',
    serviceKey: 'ü/1',
    headers: { 'content-type': 'a/b', ...more },
  };
}

const saying = (...texts: string[]): Promise<FunctionResponse> =>
  Promise.resolve({ status: 200, headers: {}, body: Readable.from(texts.map(encodeUtf8)) });

describe('a function', () => {
  it('is called once the request is closed, with all of it', async () => {
    const requests: FunctionRequest[] = [];
    const transport = transportTo((request) => {
      requests.push(request);
      return saying('a', 'b');
    });
    const heard = new Heard();
    const exchange = transport.open(requestTo(FUNCTION), heard);
    exchange.write(encodeUtf8('one '));
    exchange.write(encodeUtf8('two'));
    expect(requests).toEqual([]);
    exchange.closeRequest();
    exchange.closeRequest();
    await heard.over.promise;
    expect(heard.events).toEqual(['head 200', 'data a', 'data b', 'end']);
    expect(requests).toEqual([
      {
        arn: 'arn:aws:lambda:eu-west-1:1:function:f:1',
        assumeRoleArn: 'arn:aws:iam::1:role/r',
        compression: 'zstd',
        method: 'POST',
        path: '/invoke/Cart/add',
        headers: { 'content-type': 'a/b' },
        body: Buffer.from('one two'),
        signal: expect.any(AbortSignal),
      },
    ]);
  });

  it('that cannot be called is a broken connection', async () => {
    const transport = transportTo(() => Promise.reject(new EngineError('RT0010', 'it failed')));
    const heard = new Heard();
    transport.open(requestTo(FUNCTION), heard).closeRequest();
    await heard.over.promise;
    expect(heard.events).toEqual(['error it failed']);
  });

  it('whose answer breaks off is a broken connection', async () => {
    const body = new Readable({
      read() {
        this.destroy(new Error('not packed'));
      },
    });
    const transport = transportTo(() => Promise.resolve({ status: 200, headers: {}, body }));
    const heard = new Heard();
    transport.open(requestTo(FUNCTION), heard).closeRequest();
    await heard.over.promise;
    expect(heard.events).toEqual(['head 200', 'error not packed']);
  });

  it('whose answer is cut off without a word is a broken connection', async () => {
    const body = new Readable({
      read() {
        this.destroy();
      },
    });
    const transport = transportTo(() => Promise.resolve({ status: 200, headers: {}, body }));
    const heard = new Heard();
    transport.open(requestTo(FUNCTION), heard).closeRequest();
    await heard.over.promise;
    expect(heard.events).toEqual(['head 200', 'error the answer was cut off']);
  });

  it('is not called with more than anybody takes', async () => {
    const transport = transportTo(() => Promise.reject(new Error('called')));
    const heard = new Heard();
    const exchange = transport.open(requestTo(FUNCTION), heard);
    exchange.write(new Uint8Array(REQUEST_BODY_BYTES_MAX));
    exchange.write(new Uint8Array(1));
    exchange.closeRequest();
    expect(heard.events).toEqual([]);
    await heard.over.promise;
    expect(heard.events).toEqual(['head 413', 'end']);
  });

  it('is left alone when the exchange is abandoned', async () => {
    const aborted = new Deferred<undefined>();
    const transport = transportTo(({ signal }) => {
      signal.addEventListener('abort', () => {
        aborted.resolve(undefined);
      });
      return new Promise(() => undefined);
    });
    const heard = new Heard();
    const exchange = transport.open(requestTo(FUNCTION), heard);
    exchange.closeRequest();
    exchange.reset();
    await aborted.promise;
    expect(heard.events).toEqual([]);
  });

  it('is read no further while the listener has enough', async () => {
    const transport = transportTo(() => saying('a', 'b'));
    const heard = new Heard();
    const exchange = transport.open(requestTo(FUNCTION), heard);
    const first = new Deferred<undefined>();
    heard.onFirst = () => {
      exchange.pause();
      first.resolve(undefined);
    };
    exchange.closeRequest();
    await first.promise;
    await new Promise(setImmediate);
    expect(heard.events).toEqual(['head 200']);
    exchange.resume();
    await heard.over.promise;
    expect(heard.events).toEqual(['head 200', 'data a', 'data b', 'end']);
  });
});

describe('a signature', () => {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  const key = readSigningKey(pem.toString());
  const signer = new RequestSigner({ key, expirationMs: 60_000 }, systemClock);

  it('goes along with calls of functions, over what the deployment asks for', async () => {
    const requests: FunctionRequest[] = [];
    const transport = transportTo((request) => {
      requests.push(request);
      return saying();
    }, signer);
    const heard = new Heard();
    const request = requestTo(FUNCTION, { 'x-restate-signature-scheme': 'none' });
    transport.open(request, heard).closeRequest();
    await heard.over.promise;
    expect(requests[0]?.headers).toEqual({
      'content-type': 'a/b',
      ...signer.sign('/invoke/Cart/add', 'ü/1'),
    });
  });

  it('goes along over HTTP, beside the credentials of the address', async () => {
    const received = new Deferred<IncomingMessage>();
    const server = createServer((request, response) => {
      received.resolve(request);
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const uri = `http://user:p%40ss@127.0.0.1:${String(port)}/base`;
    const heard = new Heard();
    const endpoint = { kind: 'http', uri, httpVersion: 'HTTP/1.1' } as const;
    transportTo(() => saying(), signer)
      .open(requestTo(endpoint), heard)
      .closeRequest();
    const { url, headers } = await received.promise;
    await heard.over.promise;
    server.close();
    server.closeAllConnections();
    expect(url).toBe('/base/invoke/Cart/add');
    expect(headers).toMatchObject(signer.sign('/invoke/Cart/add', 'ü/1'));
    expect(headers.authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
  });
});
