import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

interface Graph {
  graph: { dependencies: Record<string, { target: string }[]> };
}

describe('the project graph', () => {
  it('contains the imports between projects, which builds and the layer rule depend on', () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-graph-'));
    const root = resolve(__dirname, '..');
    const args = [join(root, 'node_modules/nx/dist/bin/nx.js'), 'graph', `--file=${join(dir, 'graph.json')}`];

    execFileSync(process.execPath, args, { cwd: root, env: { ...process.env, NX_DAEMON: 'false' }, stdio: 'ignore' });

    const { graph } = JSON.parse(readFileSync(join(dir, 'graph.json'), 'utf8')) as Graph;
    const targets = (project: string) => graph.dependencies[project]?.map(({ target }) => target);
    expect(targets('api')).toEqual(expect.arrayContaining(['contract', 'http', 'jobs']));
    expect(targets('jobs')).toEqual(expect.arrayContaining(['contract', 'store']));
    rmSync(dir, { recursive: true });
  }, 60_000);
});
