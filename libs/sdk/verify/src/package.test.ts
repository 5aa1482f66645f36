import { givenEvidence } from '@svc/fixtures/evidence-format';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

describe('the published package', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'svc-verify-package-'));
  const clean = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: scratch };

  beforeAll(() => {
    const dist = join(scratch, 'dist');
    execFileSync(process.execPath, [resolve(__dirname, '../build.mjs'), dist]);
    const pack = ['pack', dist, '--pack-destination', scratch, '--loglevel', 'error'];
    const packed = execFileSync('npm', pack, { encoding: 'utf8' }).trim();
    rmSync(dist, { recursive: true });
    writeFileSync(join(scratch, 'package.json'), '{}');
    const install = ['install', '--offline', '--no-audit', '--no-fund', '--loglevel', 'error', join(scratch, packed)];
    execFileSync('npm', install, { cwd: scratch, env: clean });
  }, 120_000);
  afterAll(() => rmSync(scratch, { recursive: true }));

  it('is one file without dependencies, with the licenses of what is in it', () => {
    expect(readdirSync(join(scratch, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['svc-verify']);
    expect(readdirSync(join(scratch, 'node_modules/svc-verify')).sort()).toEqual([
      'LICENSE',
      'LICENSES-BUNDLED.txt',
      'README.md',
      'package.json',
      'svc-verify.cjs',
    ]);
  });

  it('verifies a bundle with nothing but node', async () => {
    const { archive, publicKey } = await givenEvidence();
    writeFileSync(join(scratch, 'bundle.tgz'), archive);
    writeFileSync(join(scratch, 'key.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
    const verify = (...args: string[]) =>
      spawnSync('npx', ['--offline', 'svc-verify', ...args], { cwd: scratch, env: clean, encoding: 'utf8' });

    const good = verify('--key', 'key.pem', 'bundle.tgz');
    expect([good.status, good.stdout, good.stderr]).toEqual([0, expect.stringMatching(/\nVERIFIED\n$/), '']);
    writeFileSync(join(scratch, 'cut.tgz'), archive.subarray(0, -3));
    expect(verify('cut.tgz')).toMatchObject({ status: 1, stdout: expect.stringContaining('NOT VERIFIED: archive') });
  }, 60_000);
});
