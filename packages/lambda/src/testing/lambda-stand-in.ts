/**
 * The two AWS APIs that the server talks to, on a port of this machine: Invoke of Lambda and AssumeRole of STS. Tests point the
 * real AWS client at it with `env`.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FunctionEvent {
  readonly path: string;
  readonly httpMethod: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

/** What runs in a function: the handler that an SDK gives, or any other. What it throws is a function error. */
export type StandInFunction = (event: FunctionEvent, context: object) => unknown;

interface Call {
  readonly arn: string;
  readonly event: FunctionEvent;
  readonly headers: IncomingMessage['headers'];
}

export interface AwsRefusal {
  readonly status: number;
  /** Name of the exception in the API. */
  readonly type: string;
  readonly message?: string;
}

/** AWS takes this much. */
const PAYLOAD_BYTES_MAX = 6 * 1024 * 1024;

export class LambdaStandIn implements AsyncDisposable {
  readonly calls: Call[] = [];
  /** Parameters of each AssumeRole. */
  readonly assumedRoles: URLSearchParams[] = [];
  /** Answers instead of the function, until it is taken away. */
  refuse: ((response: ServerResponse) => void) | undefined;
  /** Gives no role to anybody, nor says so, until it is false again. */
  keepsRoles = false;
  readonly #server: Server;
  readonly #functions = new Map<string, StandInFunction>();

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : new Error(String(error)));
      });
    });
  }

  /** @param port 0 = any free one */
  static async start(port = 0): Promise<LambdaStandIn> {
    const standIn = new LambdaStandIn();
    standIn.#server.listen(port, '127.0.0.1');
    await once(standIn.#server, 'listening');
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  /** Leads the AWS client here. */
  get env(): Record<string, string> {
    return awsEnvironment(this.url);
  }

  deploy(arn: string, run: StandInFunction): void {
    this.#functions.set(arn, run);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bytesOf(request);
    const path = decodeURIComponent(request.url ?? '');
    const arn = /^\/2015-03-31\/functions\/(.+)\/invocations$/.exec(path)?.[1];
    if (arn === undefined) this.#assumeRole(new URLSearchParams(body.toString()), response);
    else if (this.refuse !== undefined) this.refuse(response);
    else if (body.length > PAYLOAD_BYTES_MAX)
      refuseAs(response, { status: 413, type: 'RequestTooLargeException' });
    else await this.#invoke({ arn, body, headers: request.headers }, response);
  }

  async #invoke(
    call: { readonly arn: string; readonly body: Buffer; readonly headers: Call['headers'] },
    response: ServerResponse,
  ): Promise<void> {
    const run = this.#functions.get(call.arn);
    if (run === undefined) {
      const message = `Function not found: ${call.arn}`;
      refuseAs(response, { status: 404, type: 'ResourceNotFoundException', message });
      return;
    }
    const event = JSON.parse(call.body.toString()) as FunctionEvent;
    this.calls.push({ arn: call.arn, event, headers: call.headers });
    try {
      const returned = await run(event, {});
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(returned));
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      response.writeHead(200, { 'x-amz-function-error': 'Unhandled' });
      const { name, message } = failure;
      response.end(JSON.stringify({ errorType: name, errorMessage: message, trace: [] }));
    }
  }

  #assumeRole(parameters: URLSearchParams, response: ServerResponse): void {
    this.assumedRoles.push(parameters);
    if (this.keepsRoles) return;
    const expiration = '2099-01-01T00:00:00Z';
    response.writeHead(200, { 'content-type': 'text/xml' });
    response.end(
      `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
      <AccessKeyId>ASSUMED</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>token</SessionToken>
      <Expiration>${expiration}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
    );
  }
}

/** Environment of a process whose AWS client shall talk to `url`, with credentials that nobody checks. */
export function awsEnvironment(url: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_LAMBDA: url,
    AWS_ENDPOINT_URL_STS: url,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

/** Answers as AWS refuses a call. */
export function refuseAs(response: ServerResponse, refusal: AwsRefusal): void {
  const { status, type, message = type } = refusal;
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type });
  response.end(JSON.stringify({ Type: 'User', Message: message, message }));
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
