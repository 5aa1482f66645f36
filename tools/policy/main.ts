import { loadScanners } from '@svc/kernel-client';
import { parseCases } from './cases';
import { help, readOptions, Unusable, type PolicyOptions } from './options';
import { readPolicy, textOf } from './read-policy';
import { runCases, uncovered } from './run-cases';

type Say = (line: string) => void;

/** @returns whether all is well, and what to print as JSON */
type Outcome = { ok: boolean; report: Record<string, unknown> };

async function check({ file, bundles }: PolicyOptions, say: Say): Promise<Outcome> {
  const policy = await readPolicy(file, bundles);
  const rules = policy.rules.length + policy.inputRules.length + policy.outputRules.length;
  say(`${file}: well formed, ${rules} rules, snapshot ${policy.snapshot}`);
  return { ok: true, report: { file, rules, snapshot: policy.snapshot } };
}

async function test(options: PolicyOptions, say: Say): Promise<Outcome> {
  const policy = await readPolicy(options.file, options.bundles);
  const cases = parseCases(await textOf(options.cases), options.cases);
  const scanners = await loadScanners(options.scanners);
  if (!scanners.ok) throw new Unusable(scanners.problems);
  const outcomes = await runCases(policy, scanners.scanners, cases);
  for (const { name, faults, reason } of outcomes) {
    say(`${faults.length === 0 ? 'ok    ' : 'FAILED'} ${name}`);
    for (const fault of faults) say(`         ${fault} (${reason})`);
  }
  const failed = outcomes.filter(({ faults }) => faults.length > 0);
  const { all, ids } = uncovered(policy, outcomes);
  const coverage = all === 0 ? 100 : (100 * (all - ids.length)) / all;
  say(`${outcomes.length - failed.length} of ${outcomes.length} cases as they should be`);
  say(`${coverage.toFixed(0)} % of ${all} rules decided a case${ids.length > 0 ? `; none: ${ids.join(', ')}` : ''}`);
  const isCovered = coverage >= options.minCoverage;
  if (!isCovered) say(`FAILED: --min-coverage is ${options.minCoverage} %`);
  return {
    ok: failed.length === 0 && isCovered,
    report: { snapshot: policy.snapshot, cases: outcomes, failed: failed.length, coverage, uncovered: ids },
  };
}

const commands = { check, test };

async function main(args: string[]): Promise<number> {
  const options = readOptions(args);
  if (!options) {
    process.stdout.write(help);
    return 0;
  }
  const say: Say = (line) => void (options.json ? process.stderr : process.stdout).write(`${line}\n`);
  const { ok, report } = await commands[options.command](options, say);
  if (options.json) process.stdout.write(`${JSON.stringify({ ok, ...report })}\n`);
  return ok ? 0 : 1;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    if (!(error instanceof Unusable)) throw error;
    for (const problem of error.problems) process.stderr.write(`${problem}\n`);
    process.exitCode = 2;
  },
);
