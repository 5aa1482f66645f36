import { readFileSync } from 'node:fs';

/** Processes by name, as the bench sees them. */
export type Pids = Readonly<Record<string, number>>;

/** Linux counts in ticks of a hundredth of a second, whatever the kernel was built with. */
const tickUs = 10_000;

/** CPU time a process and its threads have used since it began, µs, in user code and in the kernel. */
export function cpuUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in brackets, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickUs;
}

/** Memory of a process that is in RAM, MB. */
export function rssMb(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb ?? 0) / 1_024;
}

/** Reads something of every process, by name. */
export const each = (pids: Pids, read: (pid: number) => number): Record<string, number> =>
  Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, read(pid)]));
