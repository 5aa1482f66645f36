import type { UnaskedEnd } from '../stack/supervised';
import type { Violation } from './history';
import { poisonedExit } from './poisoned-exit';

/** Exit code of a service that could not reach its stores at start: its supervisor is to start it again. */
const unavailableExit = 75;

/** Collects the processes that ended without a request, and prints the last log lines of each. */
export class UnaskedEnds {
  readonly violations: Violation[] = [];

  constructor(private readonly say: (text: string) => void) {}

  /** A service that is asked to end exits with 0 in time; it never ends unasked. */
  addService(end: UnaskedEnd): void {
    this.print(end);
    if (end.code === unavailableExit) return;
    this.violations.push({ invariant: 'exit', jobId: end.name, text: `ended unasked (${describe(end)})` });
  }

  /** Workers are not held to that: some jobs end the process that takes them. */
  addWorker(end: UnaskedEnd): void {
    if (end.code !== poisonedExit) this.print(end);
  }

  private print(end: UnaskedEnd): void {
    const lines = end.lastLines.map((line) => `\n           ${line}`).join('');
    this.say(`${end.name} ended unasked (${describe(end)}); its last ${end.lastLines.length} lines:${lines}`);
  }
}

const describe = ({ code, signal }: UnaskedEnd): string => signal ?? `exit code ${code}`;
