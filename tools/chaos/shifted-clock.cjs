/**
 * Loaded before a service (`node --require`): shifts its wall clock by as many milliseconds as a file says, also while it
 * runs. The monotonic clock, and with it every timer of the process, stays as it is: as when a clock is set.
 */
const { readFileSync } = require('node:fs');

const file = process.env.SVC_CHAOS_CLOCK;
const RealDate = Date;
const lookEveryMs = 50;
let aheadMs = 0;

function look() {
  try {
    aheadMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // It is being written, or the world is being taken down: what was read last holds.
  }
}

class ShiftedDate extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(ShiftedDate.now());
    else super(...given);
  }
  static now() {
    return RealDate.now() + aheadMs;
  }
}

look();
setInterval(look, lookEveryMs).unref();
globalThis.Date = ShiftedDate;
