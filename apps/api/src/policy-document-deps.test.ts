import { bundleSignatureFault, signBundle } from '@svc/policy';
import { apiEnv, EnvError, readEnv } from '@svc/runtime';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleKeys } from './bundle-keys.testing';
import { policySigning } from './policy-document-deps';

const { SVC_POLICY_SIGNING_KEY, SVC_POLICY_PUBLIC_KEY_TESTS } = bundleKeys.env;
const signing = (env: Record<string, string>) => policySigning(readEnv(apiEnv, env).values);

describe('the signing key of policies', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-signing-'));
  const path = join(dir, 'key.pem');
  beforeAll(() => writeFileSync(path, SVC_POLICY_SIGNING_KEY));
  afterAll(() => rmSync(dir, { recursive: true }));

  it('is read from a variable or a file, with its id, and trusted in addition to the kernels’ keys', () => {
    const fromFile = signing({
      SVC_POLICY_SIGNING_KEY_PATH: path,
      SVC_POLICY_SIGNING_KEY_ID: 'ops',
      SVC_POLICY_PUBLIC_KEY_TESTS,
    });

    expect(fromFile).toMatchObject({ strict: 'warn', key: { id: 'ops' } });
    expect([...fromFile.trusted.keys()].sort()).toEqual(['OPS', 'TESTS']);
    const { key } = signing({ SVC_POLICY_SIGNING_KEY });
    if (!key) throw new Error('no key was read');
    const bundle = { content: 'rules: []', enabled: true, _signature: signBundle('rules: []', { ...key, id: 'ops' }) };
    expect(bundleSignatureFault(bundle, fromFile.trusted)).toBeUndefined();
  });

  it('is absent if none is set', () => {
    expect(signing({ SVC_POLICY_STRICT: 'false' })).toEqual({ strict: 'off', key: undefined, trusted: new Map() });
  });

  it('stops the start if it is invalid, and the message names the variable and not the key', () => {
    writeFileSync(join(dir, 'bad'), 'no key');

    expect(() => signing({ SVC_POLICY_SIGNING_KEY: 'secret words' })).toThrow(
      expect.objectContaining({
        where: 'SVC_POLICY_SIGNING_KEY',
        message: expect.not.stringContaining('secret words'),
      }),
    );
    expect(() => signing({ SVC_POLICY_SIGNING_KEY_PATH: join(dir, 'bad') })).toThrow(
      expect.objectContaining({ where: expect.stringContaining('SVC_POLICY_SIGNING_KEY_PATH') }),
    );
    expect(() => signing({ SVC_POLICY_SIGNING_KEY_PATH: join(dir, 'gone') })).toThrow(
      expect.objectContaining({ where: expect.stringContaining('gone') }),
    );
  });

  it('must be trusted under its id if kernels require trusted signatures, or the start stops', () => {
    const enforced = { SVC_POLICY_STRICT: 'enforce', SVC_POLICY_SIGNING_KEY };
    const refused = expect.objectContaining({ where: expect.stringContaining('SVC_POLICY_PUBLIC_KEY_') });

    expect(() => signing({ ...enforced, SVC_POLICY_PUBLIC_KEY_TESTS })).toThrow(refused);
    expect(() => signing({ ...enforced, SVC_POLICY_SIGNING_KEY_ID: 'ops' })).toThrow(refused);
    const own = { ...enforced, SVC_POLICY_SIGNING_KEY_ID: 'tests', SVC_POLICY_PUBLIC_KEY_TESTS };
    expect(signing(own)).toMatchObject({ strict: 'enforce', key: { id: 'tests' } });
  });

  it('must be unique: a variable and a file together stop the start', () => {
    expect(() => signing({ SVC_POLICY_SIGNING_KEY, SVC_POLICY_SIGNING_KEY_PATH: path })).toThrow(EnvError);
  });
});
