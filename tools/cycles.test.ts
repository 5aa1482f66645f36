import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

interface Report {
  tree: Record<string, { id: string | null; request: string }[] | null>;
  circulars: string[][];
}

const root = resolve(__dirname, '..');
const dpdm = require.resolve('dpdm/lib/bin/dpdm.js');
const sources = ['apps/**/*.ts', 'libs/**/*.ts', 'tools/**/*.ts', 'queues.config.ts'];

/** Type imports count: they become cycles at run time with the first imported value. */
function imports(cwd: string, files: readonly string[]): Report {
  const report = join(mkdtempSync(join(tmpdir(), 'svc-cycles-')), 'report.json');
  const options = ['--tree=false', '--circular=false', '--warning=false', '--progress=false', '--exclude=node_modules'];
  const { status, stderr } = spawnSync(process.execPath, [dpdm, ...options, `--output=${report}`, ...files], {
    cwd,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`dpdm exited with ${status}: ${stderr}`);
  const read = JSON.parse(readFileSync(report, 'utf8')) as Report;
  rmSync(report);
  return read;
}

describe('imports between files', () => {
  it('form no cycles, including type imports', () => {
    const { tree, circulars } = imports(root, sources);

    expect(circulars.map((files) => files.join(' -> '))).toEqual([]);
    // Aliases are resolved; otherwise cycles between projects would be missed.
    expect(Object.keys(tree)).toContain('libs/features/jobs/src/index.ts');
    const aliased = Object.values(tree).flatMap((edges) => edges ?? []);
    expect(aliased.filter(({ id, request }) => request.startsWith('@svc/') && id === null)).toEqual([]);
  }, 60_000);

  it('are reported when two files import only types of each other', () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-cycles-'));
    writeFileSync(join(dir, 'first.ts'), "import type { B } from './second';\nexport type A = B | undefined;\n");
    writeFileSync(join(dir, 'second.ts'), "import type { A } from './first';\nexport type B = { a?: A };\n");

    const { circulars } = imports(dir, ['*.ts']);

    expect(circulars).toHaveLength(1);
    rmSync(dir, { recursive: true });
  }, 60_000);
});
