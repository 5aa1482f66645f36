import { parseArgs } from 'node:util';
import { runChaos, type ChaosReport } from './chaos';
import { modes } from './crash-walk';
import { runWalk, type WalkReport } from './run-walk';

const help = `npm run chaos -- [options]: fault injection on real processes; proves that no accepted job is lost or executed twice.

  --seed N          seed of the fault sequence (default: from the clock; printed)
  --minutes M       duration of the fault phase (default 2); then all jobs must end
  --rate R          clients per second (default 25)

  --walk            instead: kill a service before and after each of its Redis and NATS operations
  --scenario S,T    only these scenarios      --service X   only this service
  --k N             only this operation       --mode M      only before, or only after

  --json            print the report as one line of JSON on standard output; progress goes to standard error
  --verbose         print the logs of the services on standard error
  --help            print this help

Exits with 1 when an invariant was violated, and prints the command that reproduces it.
`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      minutes: { type: 'string', default: '2' },
      rate: { type: 'string', default: '25' },
      walk: { type: 'boolean', default: false },
      scenario: { type: 'string' },
      service: { type: 'string' },
      k: { type: 'string' },
      mode: { type: 'string' },
      json: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const mode = modes.find((one) => one === values.mode);
  if (values.mode !== undefined && mode === undefined) throw new Error(`--mode must be one of ${modes.join(', ')}`);
  const number = (name: 'seed' | 'minutes' | 'rate' | 'k', least: number) => {
    const text = values[name];
    if (text !== undefined && !(Number(text) >= least))
      throw new Error(`--${name} must be a number of at least ${least}`);
    return text === undefined ? undefined : Number(text);
  };
  return {
    ...values,
    mode,
    seed: number('seed', 0) ?? Date.now() % 1_000_000,
    minutes: number('minutes', 0.05) ?? 2,
    rate: number('rate', 1) ?? 25,
    k: number('k', 1),
  };
}

async function run(): Promise<number> {
  const { help: isHelp, json, verbose, walk, seed, minutes, rate, scenario, service, k, mode } = readOptions();
  if (isHelp) {
    process.stdout.write(help);
    return 0;
  }
  const out = json ? process.stderr : process.stdout;
  const startedMs = Date.now();
  const say = (text: string) =>
    void out.write(`${((Date.now() - startedMs) / 1_000).toFixed(1).padStart(7)} s  ${text}\n`);
  const onLine = (name: string, line: string) => void process.stderr.write(`${name.padEnd(9)} │ ${line}\n`);

  if (walk) {
    const report = await runWalk({ scenario, service, k, mode }, say);
    if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
    else process.stdout.write(walkSummary(report));
    return report.failures.length === 0 ? 0 : 1;
  }
  say(`seed ${seed}, ${minutes} minutes`);
  const report = await runChaos({ seed, minutes, jobsPerSec: rate, say, ...(verbose && { onLine }) });
  if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
  else process.stdout.write(chaosSummary(report));
  return report.violations.length === 0 ? 0 : 1;
}

const walkSummary = ({ points, failures }: WalkReport) =>
  `\n${points} points, ${failures.length} of them with violations\n${failures.map(({ repeatWith }) => `  ${repeatWith}\n`).join('')}`;

const list = (counts: Record<string, number>) =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `  ${String(count).padStart(7)}  ${name}\n`)
    .join('');

const MAX_PRINTED_VIOLATIONS = 30;

const chaosSummary = (report: ChaosReport) => `
${report.accepted} jobs accepted, ${report.records} records, ${report.dispatches} dispatches stored; settled ${report.settledMs} ms after the fault phase
${report.timers.fired} timers fired; the latest ${report.timers.latestMs} ms late, or ${report.timers.latestUnexcusedMs} ms without counting downtime of engine and Redis
ended\n${list(report.ended)}runs\n${list(report.runs)}faults\n${list(report.faults)}answers\n${list(report.answers)}
${report.violations.length === 0 ? 'All invariants hold.' : `${report.violations.length} invariants were violated:`}
${report.violations
  .slice(0, MAX_PRINTED_VIOLATIONS)
  .map(({ invariant, jobId, text }) => `  ${invariant} ${jobId} ${text}\n`)
  .join('')}
repeat with: ${report.repeatWith}
`;

run().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(2);
  },
);
