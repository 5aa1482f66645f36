import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sdkVersion } from './index';

const root = resolve(__dirname, '../../../..');

describe('the published package', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'worker-sdk-'));
  const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: scratch, encoding: 'utf8' }).trim();

  beforeAll(() => {
    const dist = join(scratch, 'dist');
    execFileSync(process.execPath, [resolve(__dirname, '../build.mjs'), dist]);
    const packed = execFileSync('npm', ['pack', dist, '--pack-destination', scratch, '--loglevel', 'error'], {
      encoding: 'utf8',
    });
    const installed = join(scratch, 'node_modules/@svc/worker-sdk');
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', join(scratch, packed.trim()), '-C', installed, '--strip-components=1']);
    // Links the two dependencies of this repository instead of a download.
    for (const name of ['nats', 'ioredis'])
      symlinkSync(join(root, 'node_modules', name), join(scratch, 'node_modules', name));
    rmSync(dist, { recursive: true });
  }, 60_000);
  afterAll(() => rmSync(scratch, { recursive: true }));

  const use = "const { id } = createWorker({ id: 'w-9', topics: { 'job.x': () => 1 } }); console.log(id, sdkVersion);";

  it('works with require and import, outside this repository', () => {
    writeFileSync(join(scratch, 'use.cjs'), `const { createWorker, sdkVersion } = require('@svc/worker-sdk'); ${use}`);
    writeFileSync(join(scratch, 'use.mjs'), `import { createWorker, sdkVersion } from '@svc/worker-sdk'; ${use}`);

    expect([run('use.cjs'), run('use.mjs')]).toEqual([`w-9 ${sdkVersion}`, `w-9 ${sdkVersion}`]);
  });

  it('has self-contained types', () => {
    const code = `
      import { createWorker, FatalError, type Job } from '@svc/worker-sdk';
      const run = async (job: Job): Promise<{ n: number }> => { if (job.signal.aborted) throw new FatalError('x'); return { n: job.attempt }; };
      const worker = createWorker({ topics: { 'job.x': run }, concurrency: 2 });
      const id: string = worker.id;
      // @ts-expect-error concurrency is a number
      createWorker({ topics: {}, concurrency: 'many' });
      export { id };`;
    writeFileSync(join(scratch, 'use.ts'), code);
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'];

    expect(run(tsc, ...options, '--typeRoots', join(root, 'node_modules/@types'), '--types', 'node', 'use.ts')).toBe(
      '',
    );
  });

  it('contains the bundles and declarations, and no sources', () => {
    expect(readdirSync(join(scratch, 'node_modules/@svc/worker-sdk')).sort()).toEqual([
      'LICENSE',
      'README.md',
      'create-worker.d.ts',
      'errors.d.ts',
      'index.cjs',
      'index.d.ts',
      'index.mjs',
      'package.json',
      'types.d.ts',
      'version.d.ts',
    ]);
  });
});
