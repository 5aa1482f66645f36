import type { UnaskedEnd } from '../stack/supervised';
import type { Violation } from './history';
import { poisonedExit } from './poisoned-exit';

/** Exit code of a service that could not reach its stores at start and expects its supervisor to restart it. */
const unavailableExit = 75;

/** Collects processes that exited unexpectedly, and prints the last log lines of each. */
export class UnaskedEnds {
  readonly violations: Violation[] = [];

  constructor(private readonly say: (text: string) => void) {}

  /** A service exits with 0 in time on request, and never without one. */
  addService(end: UnaskedEnd): void {
    this.print(end);
    if (end.code === unavailableExit) return;
    this.violations.push({ invariant: 'exit', jobId: end.name, text: `exited unexpectedly (${describe(end)})` });
  }

  /** Workers are exempt: some jobs exit the process that runs them. */
  addWorker(end: UnaskedEnd): void {
    if (end.code !== poisonedExit) this.print(end);
  }

  private print(end: UnaskedEnd): void {
    const lines = end.lastLines.map((line) => `\n           ${line}`).join('');
    this.say(`${end.name} exited unexpectedly (${describe(end)}); its last ${end.lastLines.length} lines:${lines}`);
  }
}

const describe = ({ code, signal }: UnaskedEnd): string => signal ?? `exit code ${code}`;
