// What `npm run cluster` says when it cannot start: one clear line for each reason.
import { spawn } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const tools = fileURLToPath(new URL('.', import.meta.url));

interface Outcome {
  readonly status: number | null;
  readonly lines: readonly string[];
}

/** The input stays open until the script has ended: its end would tell the cluster that the terminal is gone. */
function run(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [join(tools, script), ...args], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'ignore', 'pipe'],
    // It ends its whole group when it loses its input.
    detached: true,
  });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return new Promise((resolve) => {
    child.on('close', (status) => {
      resolve({ status, lines: text.trim().split('\n') });
    });
  });
}

describe('npm run cluster', () => {
  it.each([
    [['--workers', '0'], '--workers is a whole number from 1 to 49, not "0"'],
    [['--replicas', '2'], '--replicas is 1 or 3, not "2"'],
    [['join', 'anna'], 'join needs one name, such as worker-4'],
    [['leave'], 'there is no command leave'],
  ])('refuses %j', async (args, line) => {
    const { status, lines } = await run('cluster.mjs', args);
    expect(status).toBe(2);
    expect(lines[0]).toBe(line);
  });

  it('says which nats-server it needs', async () => {
    const { status, lines } = await run('cluster/main.mjs', ['{}'], { NATS_SERVER: '/bin/false' });
    expect(status).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('A cluster needs nats-server 2.14 or newer');
  });

  it('says that there is no cluster to join', async () => {
    const options = { join: 'worker-4', dataDir: join(tools, 'nowhere') };
    const { status, lines } = await run('cluster/main.mjs', [JSON.stringify(options)]);
    expect(status).toBe(1);
    expect(lines).toEqual([
      `No cluster runs in ${options.dataDir}; \`npm run cluster\` starts one.`,
    ]);
  });

  it('says who holds a port', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const dataDir = mkdtempSync(join(tmpdir(), 'engine-launcher-'));
    try {
      // The port of worker-1 is 51 behind the first.
      writeFileSync(join(dataDir, 'cluster.json'), JSON.stringify({ portsFrom: port - 51 }));
      const options = JSON.stringify({ join: 'worker-1', dataDir });
      const { status, lines } = await run('cluster/main.mjs', [options]);
      expect(status).toBe(1);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(`Port ${port}, for worker-1, is taken by `);
    } finally {
      server.close();
      rmSync(dataDir, { recursive: true });
    }
  }, 15_000);
});
