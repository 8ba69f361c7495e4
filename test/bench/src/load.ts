/** One turn of one workload on one server, made by wrk and read back with the cost of the processes. */

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { usageOf } from './process-usage.js';
import type { ServerUnderTest, Service } from './servers.js';
import type { Workload } from './workloads.js';

export interface Measurement {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU of the server per invocation, µs. */
  readonly cpuUs: number;
  readonly serviceCpuUs: number;
  readonly residentMb: number;
  readonly errors: number;
}

export function measure(
  workload: Workload,
  on: {
    readonly server: ServerUnderTest;
    readonly service: Service;
    readonly seconds: number;
    readonly scratch: string;
  },
): Measurement {
  const script = join(on.scratch, 'load.lua');
  writeFileSync(script, lua(workload, on.server.prefix));
  const before = usageOf(on.server.pid);
  const serviceBefore = usageOf(on.service.pid);
  const url = `http://127.0.0.1:${String(on.server.ingressPort)}`;
  const args = ['-t1', `-c${String(workload.connections)}`, `-d${String(on.seconds)}s`];
  const out = execFileSync('wrk', [...args, '--timeout', '30s', '-s', script, url], {
    encoding: 'utf8',
  });
  const after = usageOf(on.server.pid);
  const serviceAfter = usageOf(on.service.pid);
  const [requests = 0, durationUs = 0, p50 = 0, p99 = 0, status = 0, socket = 0] =
    /RESULT (.*)/.exec(out)?.[1]?.split(' ').map(Number) ?? [];
  return {
    perSecond: requests / (durationUs / 1e6),
    p50Ms: p50 / 1000,
    p99Ms: p99 / 1000,
    cpuUs: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / requests,
    serviceCpuUs: ((serviceAfter.cpuSeconds - serviceBefore.cpuSeconds) * 1e6) / requests,
    residentMb: after.residentMb,
    errors: status + socket,
  };
}

function lua(workload: Workload, prefix: string): string {
  const path = `/${prefix}/${workload.verb}/${workload.path}`;
  return [
    'wrk.method = "POST"',
    'wrk.headers["content-type"] = "application/json"',
    `wrk.body = ${JSON.stringify(workload.body)}`,
    `local path = ${JSON.stringify(path)}`,
    'request = function()',
    '  return wrk.format(nil, (path:gsub("@key", function() return "k" .. math.random(1, 5000) end)))',
    'end',
    'done = function(s, l, r)',
    '  io.write(string.format("RESULT %d %d %d %d %d %d\\n", s.requests, s.duration, l:percentile(50),',
    '    l:percentile(99), s.errors.status, s.errors.connect + s.errors.read + s.errors.timeout))',
    'end',
  ].join('\n');
}
