import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { useApi } from '../../apps/api/src/api.testing';
import { scimEnv, scimToken } from '../../apps/api/src/routes/scim/scim.testing';
import { requirePython, scriptPath } from './python';

const run = promisify(execFile);

describe('scim2-tester', () => {
  // The contract keeps deleted users readable; the protocol, which the tester checks, hides them.
  const api = useApi({ env: scimEnv });
  beforeEach(() => api.license('enterprise'));

  it('has no failure and skips no check', async () => {
    const args = [scriptPath('scim.py'), `${api.url}/api/v1/scim/v2`, scimToken];
    const ended = run(requirePython(), args, { timeout: 100_000 });
    const { stdout, stderr } = await ended.catch((error: { stdout: string; stderr: string }) => error);

    expect([stdout, stderr]).toEqual([expect.stringMatching(/^SUCCESS \d+\n$/), '']);
  }, 120_000);
});
