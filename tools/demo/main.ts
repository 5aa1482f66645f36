import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startStack } from '../stack';
import { Client } from './client';
import { LiveTree } from './live-tree';
import { scenarios, type Row, type World } from './scenarios';
import { demoWorkers, Workers } from './workers';
import { workflowScenarios } from './workflow-scenarios';

const help = `npm run demo -- [options]: starts the control plane and two workers, runs one job per final state and a set of
workflows, shows their progress, and exits with 0 if all of them ended as expected.

  --json   print the results as one line of JSON on standard output; progress goes to standard error
  --help   print this help
`;

function table(rows: readonly (Row & { name: string; promise: string })[]): string {
  const head = ['scenario', 'job or run', 'verdict', 'rule', 'state', 'ms', ''];
  const lines = rows.map((row) => [
    row.name,
    row.job.slice(0, 8),
    row.verdict,
    row.rule,
    row.state,
    String(row.ms),
    row.ok ? 'as expected' : `EXPECTED ${row.promise}: ${row.fault ?? ''}`,
  ]);
  const widths = head.map((_, i) => Math.max(...[head, ...lines].map((line) => (line[i] ?? '').length)));
  return [head, ...lines]
    .map((line) =>
      line
        .map((text, i) => text.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

async function run(): Promise<boolean> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  if (values.help) {
    process.stdout.write(help);
    return true;
  }
  const screen = process[values.json ? 'stderr' : 'stdout'];
  let tree: LiveTree | undefined;
  const say = (text: string) => {
    tree?.leave();
    screen.write(`${text}\n`);
  };
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-demo-'));
  const stack = await startStack({
    dataDir,
    workers: demoWorkers,
    // Short, so that the demo shows the retry after a worker crash within seconds.
    env: { WORKER_HEARTBEAT_TTL: '3s', ...process.env },
    onProgress: (what) => say(`stack     │ ${what}`),
    onLine: (service, line) => (/ERROR/.test(line) ? say(`${service.padEnd(9)} │ ${line}`) : undefined),
  });
  const workers = await Workers.prepare(stack.info);
  try {
    await Promise.all(['crane-1', 'crane-2'].map((id) => workers.start(id)));
    say(`\nTwo workers are running. Gateway ${stack.info.base_url}, Bull Board ${stack.info.base_url}/admin/queues\n`);
    const rows: (Row & { name: string; promise: string })[] = [];
    for (const { name, promise, run: scenario } of [...scenarios, ...workflowScenarios]) {
      const startedMs = Date.now();
      const passed = () => `${String(Date.now() - startedMs).padStart(5)} ms`;
      say(`▸ ${name}: ${promise}`);
      const live = new LiveTree(screen, passed);
      tree = live;
      const world: World = {
        baseUrl: stack.info.base_url,
        admin: new Client(stack.info, 'admin'),
        approver: new Client(stack.info, 'approver'),
        operator: new Client(stack.info, 'operator'),
        workers,
        report: (what, { id, worker_id, waiting_reason }) =>
          say(
            `    ${passed()}  ${id.slice(0, 8)}  ${what}${worker_id ? ` on ${worker_id}` : ''}${waiting_reason ? ` (${waiting_reason})` : ''}`,
          ),
        show: (lines) => live.show(lines),
        say: (text) => say(`    ${passed()}  ${text}`),
      };
      const row = await scenario(world).catch((error: unknown): Row => ({
        job: '',
        verdict: '',
        rule: '',
        state: '',
        ms: 0,
        ok: false,
        fault: String(error),
      }));
      rows.push({ name, promise, ...row });
    }
    say(`\n${table(rows)}\n`);
    if (values.json) process.stdout.write(`${JSON.stringify(rows)}\n`);
    return rows.every(({ ok }) => ok);
  } finally {
    await workers.stop();
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

run().then(
  (ok) => process.exit(ok ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
