// A thread that ends the process when one input takes too long: a loop in the main thread leaves no other way to say which.
// Shared memory: number of the input + 1 (0 before the first, -1 at the end), length of its bytes, then the bytes.
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const POLL_MS = 500;
const { shared, limitMs, label } = workerData;
const words = new Int32Array(shared, 0, 2);
const bytes = new Uint8Array(shared, 8);

let current = 0;
let since = performance.now();
while (current >= 0) {
  Atomics.wait(words, 0, Atomics.load(words, 0), POLL_MS);
  const now = Atomics.load(words, 0);
  if (now !== current) {
    current = now;
    since = performance.now();
  } else if (now > 0 && performance.now() - since > limitMs) {
    tell();
    process.kill(process.pid, 'SIGKILL');
  }
}

function tell() {
  const hex = Buffer.from(bytes.slice(0, words[1])).toString('hex');
  const replay = label.replace('INPUT', String(current - 1));
  writeSync(
    2,
    `an input has run for more than ${limitMs} ms\n  input: ${hex}\n  replay: ${replay}\n`,
  );
}
