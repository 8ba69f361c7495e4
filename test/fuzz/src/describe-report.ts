/** What people see of a run: one line, and for each finding its reason, its bytes and the command that shows it again. */

import { toHex } from '@engine/stdx';

import { replayCommand, type Report } from './fuzz.js';

const SHOWN_BYTES_MAX = 1_024;

export function describeReport(report: Report, seed: number): string {
  const { target, inputs, seconds, findings, leftBytes } = report;
  const left = `${(leftBytes / 1024 / 1024).toFixed(1)} MiB left behind`;
  const figures = `${String(inputs)} inputs, ${seconds.toFixed(1)} s, ${left}`;
  const lines = [
    `${target}: seed ${String(seed)}, ${figures}, ${String(findings.length)} findings`,
  ];
  for (const { index, reason, bytes } of findings) {
    const more = bytes.length > SHOWN_BYTES_MAX ? '…' : '';
    lines.push(
      `input ${String(index)}: ${reason}`,
      `  input: ${toHex(bytes.subarray(0, SHOWN_BYTES_MAX))}${more}`,
      `  replay: ${replayCommand(target, seed, index)}`,
    );
  }
  return lines.join('\n');
}
