/**
 * Loaded before a service (`node --require`): shifts its wall clock by the milliseconds in a file, which may change while
 * it runs. As when a system clock is set, the monotonic clock and the timers of the process are not affected.
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
    // Being written, or the world is shutting down: keep the last value.
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
