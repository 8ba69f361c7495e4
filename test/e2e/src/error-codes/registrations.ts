/** Codes of discovery and registration, each provoked by an endpoint that gives cause for it. */

import { createServer, type RequestListener } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Server } from 'node:net';

import { freePort } from '@engine-test/support';

import {
  HostileDeployment,
  manifestOf,
  MANIFEST_TYPE,
  type HostileOptions,
} from '../hostile-deployment.js';
import { FINE, says } from '../misbehaviour.js';
import type { Sighting } from './sighting.js';
import type { Stage } from './stage.js';

const greet = { greet: says(...FINE) };

export async function endpoint(stage: Stage, options: HostileOptions): Promise<HostileDeployment> {
  return stage.use(await HostileDeployment.start(options, greet));
}

/** Nobody listens, and somebody who has no SDK there. */
export async function unreachable(stage: Stage): Promise<Sighting[]> {
  const nobody = `http://127.0.0.1:${String(await freePort())}`;
  const { uri } = await http1(stage, (_request, response) => response.writeHead(404).end());
  return [
    await stage.adminRefusal('POST', '/deployments', { uri: nobody }),
    await stage.adminRefusal('POST', '/deployments', { uri, use_http_11: true }),
  ];
}

export async function registeredTwice(stage: Stage): Promise<Sighting[]> {
  const { uri } = await endpoint(stage, { service: 'Twice' });
  await stage.register(uri);
  return [await stage.adminRefusal('POST', '/deployments', { uri })];
}

export async function reservedName(stage: Stage): Promise<Sighting[]> {
  const { uri } = await endpoint(stage, { service: 'restateGreeter' });
  return [await stage.adminRefusal('POST', '/deployments', { uri })];
}

export async function typeChanged(stage: Stage): Promise<Sighting[]> {
  const before = await endpoint(stage, { service: 'Changeling' });
  const after = await endpoint(stage, { service: 'Changeling', type: 'VIRTUAL_OBJECT' });
  await stage.register(before.uri);
  return [await stage.adminRefusal('POST', '/deployments', { uri: after.uri })];
}

/** An SDK from before the versions of this server, and one from after them. */
export async function noCommonVersion(stage: Stage): Promise<Sighting[]> {
  const old = await endpoint(stage, {
    service: 'Ancient',
    protocolVersionMin: 1,
    protocolVersionMax: 4,
  });
  const future = await endpoint(stage, {
    service: 'Future',
    protocolVersionMin: 8,
    protocolVersionMax: 9,
  });
  return [
    await stage.adminRefusal('POST', '/deployments', { uri: old.uri }),
    await stage.adminRefusal('POST', '/deployments', { uri: future.uri }),
  ];
}

/** A web page where an SDK should be. */
export async function badAnswer(stage: Stage): Promise<Sighting[]> {
  const { uri } = await http1(stage, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works!</h1>');
  });
  return [await stage.adminRefusal('POST', '/deployments', { uri, use_http_11: true })];
}

export async function oldHttp(stage: Stage): Promise<Sighting[]> {
  const { uri } = await http1(stage, (_request, response) => response.writeHead(404).end());
  return [await stage.adminRefusal('POST', '/deployments', { uri })];
}

/** HTTP/1.0 has no way to stream both ways at once. */
export async function streamsWhereNoneCan(stage: Stage): Promise<Sighting[]> {
  const body = JSON.stringify(manifestOf({ service: 'Streams' }, ['greet']));
  const server = createSocketServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.end(`HTTP/1.0 200 OK\r\ncontent-type: ${MANIFEST_TYPE}\r\n\r\n${body}`);
    });
  });
  const { uri } = await listening(stage, server);
  return [await stage.adminRefusal('POST', '/deployments', { uri, use_http_11: true })];
}

/** An endpoint with a newer SDK, and one that lacks the service. */
export async function unlikeUpdate(stage: Stage): Promise<Sighting[]> {
  const before = await endpoint(stage, { service: 'Repaired' });
  const id = await stage.register(before.uri);
  const older = await endpoint(stage, { service: 'Repaired', protocolVersionMax: 6 });
  const other = await endpoint(stage, { service: 'SomethingElse' });
  return [
    await stage.adminRefusal('PUT', `/deployments/${id}`, { uri: older.uri }),
    await stage.adminRefusal('PUT', `/deployments/${id}`, { uri: other.uri }),
  ];
}

/** An update in place moves one deployment to the address of another. */
export async function ambiguousForce(stage: Stage): Promise<Sighting[]> {
  const first = await endpoint(stage, { service: 'Shared' });
  const second = await endpoint(stage, { service: 'Shared' });
  const id = await stage.register(first.uri);
  await stage.register(second.uri);
  const moved = await stage.admin('PUT', `/deployments/${id}`, { uri: second.uri });
  if (!moved.ok) throw new Error(`the update is refused: ${await moved.text()}`);
  return [await stage.adminRefusal('POST', '/deployments', { uri: second.uri, force: true })];
}

/** An inactivity timeout where no stream can rest. */
export async function idleTimeoutWithoutStream(stage: Stage): Promise<Sighting[]> {
  const { uri } = await endpoint(stage, {
    service: 'Unhurried',
    protocolMode: 'REQUEST_RESPONSE',
    settings: { inactivityTimeout: 30_000 },
  });
  await stage.register(uri);
  return [await infoOf(stage, 'Unhurried')];
}

/** The engine keeps journals for a day at most. */
export async function longRetention(stage: Stage): Promise<Sighting[]> {
  const { uri } = await endpoint(stage, {
    service: 'Archive',
    settings: { journalRetention: 10 * 24 * 3_600_000 },
  });
  await stage.register(uri);
  return [await infoOf(stage, 'Archive')];
}

async function infoOf(stage: Stage, service: string): Promise<Sighting> {
  const response = await stage.admin('GET', `/services/${service}`);
  const { info } = (await response.json()) as Extract<Sighting, { place: 'metadata' }>;
  return { place: 'metadata', info };
}

function http1(stage: Stage, answer: RequestListener): Promise<{ readonly uri: string }> {
  return listening(stage, createServer(answer));
}

async function listening(stage: Stage, server: Server): Promise<{ readonly uri: string }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stage.use({
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  });
  return { uri: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}
