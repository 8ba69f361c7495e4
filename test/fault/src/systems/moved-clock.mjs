// Loaded before a program (`node --import`): its wall clock is off by as many ms as the file $FAULT_CLOCK_FILE says. Monotonic
// clocks stay right, as they do when somebody sets the clock of a machine.
import { readFileSync } from 'node:fs';

const POLL_MS = 50;
const path = process.env.FAULT_CLOCK_FILE;
const RealDate = Date;
let offsetMs = 0;

class MovedDate extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + offsetMs);
    else super(...args);
  }

  static now() {
    return RealDate.now() + offsetMs;
  }
}

function look() {
  try {
    offsetMs = Number(readFileSync(path, 'utf8')) || 0;
  } catch {
    offsetMs = 0;
  }
}

if (path !== undefined) {
  globalThis.Date = MovedDate;
  look();
  setInterval(look, POLL_MS).unref();
}
