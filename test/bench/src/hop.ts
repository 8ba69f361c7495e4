/**
 * What it costs to ask a worker in another process: requests and answers over one connection of this machine, both of its ends in
 * this process. Prints µs of CPU per request, both directions and both ends together, less what the same costs as a call.
 */

import { composeInvocationId, type PartitionAnswer, type PartitionRequest } from '@engine/domain';
import { systemClock, systemRandom, systemScheduler } from '@engine/runtime';
import {
  AckReturn,
  channelCredentials,
  Dialer,
  RemoteChannel,
  ROLE_PROTOCOL,
  RPC_MESSAGE_BYTES_MAX,
  RpcServer,
  type Introduction,
} from '@engine/rpc';
import { IRREVOCABLE, type PartitionChannel, type SentRequest } from '@engine/wire';

const PAYLOAD_BYTES = 100;
const COUNT = 300_000;
const CONCURRENCIES = [1, 8, 64, 256, 1_024];

const system = { clock: systemClock, scheduler: systemScheduler };

/** Answers with the payload, in the next turn. */
const echo: PartitionChannel = {
  send: (request: PartitionRequest, respond: (answer: PartitionAnswer) => void): SentRequest => {
    systemScheduler.immediate(() => {
      const value = request.kind === 'invoke' ? request.invocation.payload : new Uint8Array();
      const result = { kind: 'success', value } as const;
      respond({ kind: 'result', result, expiresAt: undefined, target: undefined });
    });
    return IRREVOCABLE;
  },
};

function requestOf(count: number): PartitionRequest {
  return {
    kind: 'invoke',
    requestId: `0123456789abcdef01234567-${count.toString(36)}`,
    awaits: 'result',
    invocation: {
      id: INVOCATION_ID,
      target: { kind: 'service', service: 'Greeter', key: undefined, handler: 'greet' },
      headers: [{ key: 'content-type', value: 'application/json' }],
      payload: PAYLOAD,
      idempotencyKey: undefined,
      executionTime: undefined,
      completionRetentionMs: 0,
      journalRetentionMs: 0,
    },
  };
}

const INVOCATION_ID = composeInvocationId(7n << 60n, new Uint8Array(16).fill(7));
const PAYLOAD = new Uint8Array(PAYLOAD_BYTES).fill(97);

interface Cost {
  readonly cpuUs: number;
  readonly perSecond: number;
}

async function measure(
  channel: PartitionChannel,
  concurrency: number,
  count: number,
): Promise<Cost> {
  let sent = 0;
  let answered = 0;
  const cpu = process.cpuUsage();
  const begin = performance.now();
  await new Promise<void>((resolve) => {
    const next = (): void => {
      if (sent >= count) return;
      sent += 1;
      channel.send(requestOf(sent), () => {
        answered += 1;
        if (answered === count) resolve();
        else next();
      });
    };
    for (let index = 0; index < concurrency; index += 1) next();
  });
  const { user, system: kernel } = process.cpuUsage(cpu);
  const seconds = (performance.now() - begin) / 1_000;
  return { cpuUs: (user + kernel) / count, perSecond: count / seconds };
}

function introductionOf(nodeId: string): Introduction {
  const format = { min: 1, max: 1 };
  return { clusterName: 'bench', nodeId, protocol: ROLE_PROTOCOL, storeFormat: format };
}

async function main(): Promise<void> {
  const messageBytesMax = RPC_MESSAGE_BYTES_MAX;
  await using server = new RpcServer(
    {
      host: '127.0.0.1',
      port: 0,
      introduction: introductionOf('worker'),
      messageBytesMax,
      tls: undefined,
    },
    {
      worker: {
        channel: echo,
        peer: { deliver: () => undefined },
        scans: NO_ROWS,
        acks: new AckReturn(),
      },
      ...system,
    },
  );
  await server.start();
  const dialer = new Dialer({ messageBytesMax }, channelCredentials(undefined));
  const introduction = introductionOf('ingress');
  const parts = { dialer, introduction, random: systemRandom, ...system };
  const address = `127.0.0.1:${String(server.port)}`;
  const opened = Promise.withResolvers<undefined>();
  const onOpen = (): void => {
    opened.resolve(undefined);
  };
  const channel = new RemoteChannel({ address, messageBytesMax, onOpen }, parts);
  channel.start();
  await opened.promise;
  await measure(echo, 64, COUNT / 10);
  await measure(channel, 64, COUNT / 10);
  for (const concurrency of CONCURRENCIES) {
    const count = concurrency < 64 ? COUNT / 10 : COUNT;
    const near = await measure(echo, concurrency, count);
    const far = await measure(channel, concurrency, count);
    process.stdout.write(
      `${String(concurrency).padStart(5)} at once: ${(far.cpuUs - near.cpuUs).toFixed(1)} µs of CPU per request, ` +
        `${far.perSecond.toFixed(0)} per second (called in memory: ${near.cpuUs.toFixed(1)} µs)\n`,
    );
  }
  channel.stop();
}

async function* none(): AsyncGenerator<never> {
  // A worker without rows.
}

const NO_ROWS = { scan: none, scanJournal: none, scanState: none };

await main();
