/**
 * `npm test`: sets up, then runs every check: format, project graph, lint, types, tests. Names of projects
 * run only the tests of these: `npm test -- jobs dispatch`. Other arguments are passed to Jest: `npm test --
 * libs/store`. All steps run even when one fails; the last line is `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './setup/paths.mjs';
import { orExplain, setUp } from './setup.mjs';

const env = { ...process.env, NX_DAEMON: 'false', NX_INTERACTIVE: 'false', NX_TUI: 'false', FORCE_COLOR: '0' };
const bin = (path) => join(root, 'node_modules', path);
const nx = bin('nx/dist/bin/nx.js');
/** Tests that kill and restart services and stores: they run alone, since they are sensitive to load and cause it. */
const heavy = String.raw`tools/chaos/(big-restart|chaos|crash-walk|single-faults)\.test\.ts$`;

await orExplain(() => setUp({ browser: true, python: true, go: true, servers: true }));

const scratch = mkdtempSync(join(tmpdir(), 'svc-results-'));
const names = projectNames();
const projects = process.argv.slice(2).filter((argument) => names.includes(argument));
const options = process.argv.slice(2).filter((argument) => !projects.includes(argument));
const checks = [
  { name: 'format', args: [bin('prettier/bin/prettier.cjs'), '--check', '.'] },
  // Without a cached graph the layer rule is skipped silently.
  { name: 'project graph', args: [nx, 'show', 'projects'] },
  { name: 'lint', args: [nx, 'run-many', '-t', 'lint', '--output-style=static'], never: 'The rule will be skipped' },
  { name: 'types', args: [bin('typescript/bin/tsc'), '--noEmit', '-p', 'tsconfig.json'] },
  { name: 'generated docs', args: [join(root, 'tools/run-ts.mjs'), 'tools/docs/generate.ts', '--check'] },
];
const tests = jest('tests', { workers: 2, without: heavy });
const chaos = jest('chaos', { workers: 1, without: `^(?!.*${heavy})` });
const steps = [
  ...(projects.length > 0 ? [] : checks),
  tests,
  ...(projects.length > 0 && !projects.includes('tools') ? [] : [chaos]),
];

const failed = [];
for (const step of steps) {
  const startedMs = Date.now();
  const ok = await passes(step);
  if (!ok) failed.push(step.name);
  console.log(`${ok ? '✓' : '✗'} ${step.name} (${((Date.now() - startedMs) / 1_000).toFixed(1)} s)`);
}
const counts = steps.map(countResults);
const [passed, failures, skipped] = ['passed', 'failures', 'skipped'].map((what) => sum(counts, what));
rmSync(scratch, { recursive: true, force: true });
if (failed.length > 0) console.log(`\nFailed: ${failed.join(', ')}`);
console.log(`\n${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failed.length > 0 || failures > 0 || passed === 0 ? 1 : 0);

/** Names of the projects, as in jest.config.ts. */
function projectNames() {
  const libraries = readdirSync(join(root, 'libs')).map((folder) => `libs/${folder}`);
  return ['.', 'apps', 'libs', ...libraries]
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name, 'project.json')))
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')).name);
}

/** A step of tests: those selected by the arguments, or all, without paths that match the pattern. */
function jest(name, { workers, without }) {
  const results = join(scratch, `${name}.json`);
  const args = [
    bin('jest/bin/jest.js'),
    `--maxWorkers=${workers}`,
    '--testPathIgnorePatterns=/node_modules/',
    `--testPathIgnorePatterns=${without}`,
    // The arguments may select tests of the other step only.
    '--passWithNoTests',
    // A failed test may leave a connection open, which must not keep the process alive.
    '--forceExit',
    '--json',
    `--outputFile=${results}`,
    ...options,
    ...(projects.length > 0 ? ['--selectProjects', ...projects] : []),
  ];
  return { name, args, results, isLoud: true };
}

/** Runs one step. Output is streamed for loud steps, and printed on failure for others. */
function passes({ args, never, isLoud = false }) {
  return new Promise((resolve) => {
    // Jest prints its report on standard error and, with --json, the raw results on standard output.
    const child = spawn(process.execPath, args, {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', isLoud ? 'inherit' : 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += data));
    child.once('close', (code) => {
      const ok = code === 0 && !(never && output.includes(never));
      if (!ok && !isLoud) console.log(output);
      resolve(ok);
    });
  });
}

/** A failed step other than Jest counts as one failure, as does a test file that could not run. */
function countResults({ name, results }) {
  const failure = { passed: 0, failures: 1, skipped: 0 };
  const nothing = { passed: 0, failures: 0, skipped: 0 };
  if (results === undefined) return failed.includes(name) ? failure : nothing;
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } = JSON.parse(
      readFileSync(results, 'utf8'),
    );
    return {
      passed: numPassedTests,
      failures: numFailedTests + numRuntimeErrorTestSuites,
      skipped: numPendingTests + numTodoTests,
    };
  } catch {
    // Jest writes no results when it finds no test or stops early.
    return failed.includes(name) ? failure : nothing;
  }
}

function sum(counts, what) {
  return counts.reduce((total, { [what]: count }) => total + count, 0);
}
