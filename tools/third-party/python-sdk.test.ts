import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { requirePython } from './python';

const sdk = resolve(__dirname, '../../sdk/python');

it('the tests of sdk/python pass', () => {
  const env = { ...process.env, PYTHONPATH: sdk };
  const args = ['-m', 'unittest', 'discover', '-s', resolve(sdk, 'tests')];
  const { status, stderr } = spawnSync(requirePython(), args, { env, encoding: 'utf8', timeout: 60_000 });

  expect([status, stderr]).toEqual([0, expect.stringContaining('OK')]);
});
