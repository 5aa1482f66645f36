import { writeFileSync } from 'node:fs';
import { measures } from './measures';
import { markdownTable, type BenchFile } from './report';

/** Writes docs/performance.md from what was just measured. */
export function writeDocs(file: string, bench: BenchFile, day: string): void {
  const { machine, limits } = bench;
  const limitRows = Object.entries(limits).map(([name, value]) => `| ${name} | ${value.toLocaleString('en-GB')} |`);
  writeFileSync(
    file,
    `# Performance

Made by \`npm run bench -- --write-docs\` on ${day}: do not edit. \`npm run bench -- --help\` lists the options, among them \`--profile scheduler\`, which says where the time of a job goes.

Machine: ${machine.cpu}, ${machine.cores} cores, ${machine.memory_gb} GB; Node ${machine.node}, ${machine.redis}, ${machine.nats}. Measured commit: ${machine.commit}. Load of the machine when the bench began: ${machine.load} (above 0.5 something else was running, and rates are lower than they would be alone).

One process each of gateway, scheduler, engine and worker; Redis with its append-only file synced at every write; JetStream on files; no TLS; the policy, pools and scanners of \`config/\`. The load comes from one more process on the same cores.

## The product

The ratio is product ÷ limit. A mark that is not met says \`short\`.

${markdownTable(measures, bench)}

## The raw limits

What the parts do by themselves on this machine, in operations a second, measured in the same run.

| name | a second |
| --- | --- |
${limitRows.join('\n')}

## What is measured

- **submit, drain**: 20,000 jobs over 64 connections while the scheduler stands still (SIGSTOP); then it goes on, until the last job has ended and the last output is scanned. The middle one of three runs. After each run, the number of jobs in every terminal state, the history of every job and the worker's own count must show each job done exactly once, or the bench fails.
- **drain_everysec**: the same with the append-only file synced once a second. **drain_100k**: the same with 100,000 ended jobs in the store, each of which the product ran itself; its limit is \`drain\`.
- **roundtrip**: a client posts a job and asks for it once, with \`wait_ms\`; the answer comes when the job has ended.
- **redis_calls_per_job**: what processes ask of Redis, counted with MONITOR in a drain of its own. **redis_commands_per_job**: what Redis executes, from \`INFO commandstats\`.
- **cpu_us_per_job**: from /proc, over submission and drain, without the load generator. **rss**: at rest, after the first and after the third drain; the limit of the last is the first.
- **run_1step, run_3step**: 64 clients that each start a run of one or three jobs and wait for its end before they start the next; the limit is \`drain\`, in which nobody waits for anything. **fanout_1000**: one run over 1,000 items, 256 jobs of it out at once, from its start to the end of the step that joins them. **approve_resume_p50**: from the POST of an approval to the answer that shows the run ended.
- **step_cost_10k_runs**: CPU of all processes for a run of one step while 10,000 runs wait at gates; its limit is the same with ten. **gates_10k, timers_100k**: what a run that waits at a gate, and a step that waits for a time, take in Redis with all that belongs to them; the rate is that of 100,000 timers which come due at the same moment.
- **velocity**: decisions that each count a window in Redis; the limit is a script of three writes. **publish_visible**: from the moment a bundle is stored until the last of three kernels decides by it, the worst of 20.
- **policy**: every request is decided by another rule of the policy; over gRPC by a kernel process with the shipped policy.
- **scan**: 1 MiB through all built-in scanners, without a finding, and with more than 500.
`,
  );
}
