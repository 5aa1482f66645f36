/**
 * Collects what is to be sent and sends it at the end of this turn of the event loop. The client writes to its socket once
 * for all that is published without a pause in between, and a write costs more than the message in it.
 */
export class EndOfTurn {
  private readonly sends: (() => void)[] = [];

  add(send: () => void): void {
    if (this.sends.push(send) === 1) setImmediate(() => this.flush());
  }

  /** Sends at once what has been collected. @throws nothing of what a send throws: sends answer for themselves */
  flush(): void {
    for (const send of this.sends.splice(0)) send();
  }
}
