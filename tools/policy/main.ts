import { loadScanners, type Scanners } from '@svc/kernel-client';
import { writeFileSync } from 'node:fs';
import { parseCases } from './cases';
import { ofFile, ofStore, type Decisions } from './decisions';
import { difference, passed } from './diff';
import { help, readOptions, Unusable, type PolicyOptions } from './options';
import { readPolicy, readText } from './read-policy';
import { runCases, uncovered } from './run-cases';

type Say = (line: string) => void;

/** @returns whether the check passed, and the JSON output */
type Outcome = { ok: boolean; report: Record<string, unknown> };

async function check({ files: [file = ''], bundles, overrides }: PolicyOptions, say: Say): Promise<Outcome> {
  const policy = await readPolicy(file, bundles, overrides);
  const rules = policy.rules.length + policy.inputRules.length + policy.outputRules.length;
  say(`${file}: valid, ${rules} rules, snapshot ${policy.snapshot}`);
  return { ok: true, report: { file, rules, snapshot: policy.snapshot } };
}

async function test(options: PolicyOptions, say: Say): Promise<Outcome> {
  const policy = await readPolicy(options.files[0] ?? '', options.bundles, options.overrides);
  const cases = parseCases(await readText(options.cases), options.cases);
  const outcomes = await runCases(policy, await readScanners(options), cases);
  for (const { name, faults, reason } of outcomes) {
    say(`${faults.length === 0 ? 'ok    ' : 'FAILED'} ${name}`);
    for (const fault of faults) say(`         ${fault} (${reason})`);
  }
  const failed = outcomes.filter(({ faults }) => faults.length > 0);
  const { all, ids } = uncovered(policy, outcomes);
  const coverage = all === 0 ? 100 : (100 * (all - ids.length)) / all;
  say(`${outcomes.length - failed.length} of ${outcomes.length} cases passed`);
  say(`${coverage.toFixed(0)} % of ${all} rules covered${ids.length > 0 ? `; not covered: ${ids.join(', ')}` : ''}`);
  const isCovered = coverage >= options.minCoverage;
  if (!isCovered) say(`FAILED: --min-coverage is ${options.minCoverage} %`);
  return {
    ok: failed.length === 0 && isCovered,
    report: { snapshot: policy.snapshot, cases: outcomes, failed: failed.length, coverage, uncovered: ids },
  };
}

const shown = 20;

async function diff(options: PolicyOptions, say: Say): Promise<Outcome> {
  const [old = '', fresh = ''] = options.files;
  const before = await readPolicy(old, options.bundles, options.overrides);
  const after = await readPolicy(fresh, options.bundles, options.overrides);
  const { questions, warnings } = await readDecisions(options);
  const found = await difference({ before, after }, await readScanners(options), questions);
  const {
    decisions,
    changes,
    stricter,
    looser,
    addedApprovals,
    uncovered: share,
    uncoveredBefore,
    drifted,
    failed,
  } = found;
  for (const { direction, job_id, topic, before: was, after: is, rule, reason } of changes.slice(0, shown)) {
    say(`${direction.padEnd(8)} ${job_id} ${topic}: ${was} → ${is}${rule && ` by ${rule}`} (${reason})`);
  }
  if (changes.length > shown) say(`… and ${changes.length - shown} more`);
  say(`${changes.length} of ${decisions} decisions change: ${stricter} stricter, ${looser} less strict`);
  say(`${Math.abs(addedApprovals)} ${addedApprovals < 0 ? 'fewer' : 'more'} decisions require approval`);
  say(`${share.toFixed(1)} % of the decisions match no rule (${uncoveredBefore.toFixed(1)} % under ${old})`);
  if (drifted > 0)
    warnings.push(
      `${drifted} original decisions differ from ${old} today; the velocity windows of that time are not available`,
    );
  if (failed > 0) warnings.push(`deciding failed ${failed} times`);
  for (const warning of warnings) say(`note: ${warning}`);
  const over = passed(found, options.limits);
  for (const fault of over) say(`FAILED: ${fault}`);
  return { ok: over.length === 0 && failed === 0, report: { ...found, warnings, failures: over } };
}

async function exportDecisions(options: PolicyOptions, say: Say): Promise<Outcome> {
  const [file = ''] = options.files;
  const { questions, warnings } = await ofStore(storeUrl(), options);
  writeFileSync(file, questions.map((question) => `${JSON.stringify(question)}\n`).join(''), { mode: 0o600 });
  say(`${file}: ${questions.length} decisions`);
  for (const warning of warnings) say(`note: ${warning}`);
  return { ok: true, report: { file, decisions: questions.length, warnings } };
}

const readDecisions = (options: PolicyOptions): Promise<Decisions> =>
  options.decisions === undefined ? ofStore(storeUrl(), options) : ofFile(options.decisions, options);

function storeUrl(): string {
  const url = process.env['REDIS_URL'];
  if (!url) throw new Unusable(['set REDIS_URL to the Redis of an installation, or --decisions to an export']);
  return url;
}

async function readScanners({ scanners: path }: PolicyOptions): Promise<Scanners> {
  const read = await loadScanners(path);
  if (!read.ok) throw new Unusable(read.problems);
  return read.scanners;
}

const commands = { check, test, diff, export: exportDecisions };

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
