import { readFileSync } from 'node:fs';

/** Process ids by name. */
export type Pids = Readonly<Record<string, number>>;

/** Linux reports ticks of a hundredth of a second, whatever the kernel configuration. */
const tickUs = 10_000;

/** CPU time of a process and its threads since its start, µs, user and kernel. */
export function cpuUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The program name, in brackets, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickUs;
}

/** Resident memory of a process, MB. */
export function rssMb(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb ?? 0) / 1_024;
}

/** Reads a value for every process, by name. */
export const each = (pids: Pids, read: (pid: number) => number): Record<string, number> =>
  Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, read(pid)]));
