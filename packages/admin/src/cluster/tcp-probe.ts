/** Whether a process listens at an address: a plain connection, closed as soon as it stands. */

import { connect } from 'node:net';

/** `silent`: no answer in time, or one that says nothing of the process, such as a host that is not there. */
export type ProbeOutcome = 'reached' | 'refused' | 'silent';

/** Never rejects. `address`: `host:port`, IPv6 in brackets. */
export type Probe = (address: string) => Promise<ProbeOutcome>;

const PROBE_MS_MAX = 900;

export const probeTcp: Probe = (address) =>
  new Promise((resolve) => {
    const colon = address.lastIndexOf(':');
    const host = address.slice(0, colon).replaceAll(/[[\]]/g, '');
    const socket = connect({ host, port: Number(address.slice(colon + 1)) });
    const end = (outcome: ProbeOutcome): void => {
      socket.destroy();
      resolve(outcome);
    };
    socket.setTimeout(PROBE_MS_MAX);
    socket.on('connect', () => {
      end('reached');
    });
    socket.on('timeout', () => {
      end('silent');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      end(error.code === 'ECONNREFUSED' ? 'refused' : 'silent');
    });
  });
