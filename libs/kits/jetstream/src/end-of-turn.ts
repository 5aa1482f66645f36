/**
 * Collects messages and sends them at the end of this turn of the event loop, because the client then writes to its socket
 * once, and a write costs more than a message.
 */
export class EndOfTurn {
  private readonly sends: (() => void)[] = [];

  add(send: () => void): void {
    if (this.sends.push(send) === 1) setImmediate(() => this.flush());
  }

  /** Sends collected messages immediately. Never throws: each send reports its own error. */
  flush(): void {
    for (const send of this.sends.splice(0)) send();
  }
}
