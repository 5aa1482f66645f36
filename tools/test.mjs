/**
 * `npm test`: sets up, then everything a change must pass: format, project graph, lint, types, tests. Arguments go to
 * Jest: `npm test -- libs/store`. All steps run even when one fails; the last line is `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './setup/paths.mjs';
import { orExplain, setUp } from './setup.mjs';

const env = { ...process.env, NX_DAEMON: 'false', NX_INTERACTIVE: 'false', NX_TUI: 'false', FORCE_COLOR: '0' };
const bin = (path) => join(root, 'node_modules', path);
const nx = bin('nx/dist/bin/nx.js');

await orExplain(() => setUp({ browser: true, servers: true }));

const scratch = mkdtempSync(join(tmpdir(), 'svc-results-'));
const results = join(scratch, 'jest.json');
const steps = [
  { name: 'format', args: [bin('prettier/bin/prettier.cjs'), '--check', '.'] },
  // The rule that guards the layers skips itself, without failing, when no graph has been made.
  { name: 'project graph', args: [nx, 'show', 'projects'] },
  { name: 'lint', args: [nx, 'run-many', '-t', 'lint', '--output-style=static'], never: 'The rule will be skipped' },
  { name: 'types', args: [bin('typescript/bin/tsc'), '--noEmit', '-p', 'tsconfig.json'] },
  { name: 'generated docs', args: [join(root, 'tools/run-ts.mjs'), 'tools/docs/generate.ts', '--check'] },
  {
    name: 'tests',
    // A test that failed half-way may leave a connection open; that must not keep the run from ending.
    args: [
      bin('jest/bin/jest.js'),
      '--maxWorkers=2',
      '--forceExit',
      // Real servers on a busy machine take their time; a test that hangs ends all the same.
      '--testTimeout=20000',
      '--json',
      `--outputFile=${results}`,
      ...process.argv.slice(2),
    ],
    isLoud: true,
  },
];

const failed = [];
for (const step of steps) {
  const startedMs = Date.now();
  const ok = await passes(step);
  if (!ok) failed.push(step.name);
  console.log(`${ok ? '✓' : '✗'} ${step.name} (${((Date.now() - startedMs) / 1_000).toFixed(1)} s)`);
}
const { passed, failures, skipped } = readResults();
rmSync(scratch, { recursive: true, force: true });
if (failed.length > 0) console.log(`\nFailed: ${failed.join(', ')}`);
console.log(`\n${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failed.length > 0 || failures > 0 || passed === 0 ? 1 : 0);

/** Runs one step; its output is shown as it comes when it is loud, else only when it fails. */
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

/** Steps other than Jest count as one failure each, and so does a test file that could not be run at all. */
function readResults() {
  const others = failed.filter((name) => name !== 'tests').length;
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } = JSON.parse(
      readFileSync(results, 'utf8'),
    );
    return {
      passed: numPassedTests,
      failures: numFailedTests + numRuntimeErrorTestSuites + others,
      skipped: numPendingTests + numTodoTests,
    };
  } catch {
    return { passed: 0, failures: others + 1, skipped: 0 }; // Jest did not get as far as writing its results
  }
}
