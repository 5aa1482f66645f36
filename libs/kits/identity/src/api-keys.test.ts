import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiKeys, type ApiKeySettings } from './api-keys';
import { sha256 } from './digest';

const settings: ApiKeySettings = {
  key: '',
  keys: '',
  path: '',
  defaultTenant: 'default',
  production: false,
  skipSecretValidation: false,
};
const strong = 'f3a9c1d27b8e40561a2b3c4d5e6f7089';

describe('configured API keys', () => {
  const dir = mkdtempSync(join(tmpdir(), 'keys-'));
  const path = join(dir, 'keys');
  const problems: string[] = [];
  const admins: [string, readonly number[]][] = [];
  let nowMs = Date.UTC(2026, 0, 1);
  const open = (some: Partial<ApiKeySettings>) =>
    openApiKeys(
      { ...settings, ...some },
      {
        nowMs: () => nowMs,
        onProblem: ({ message }) => void problems.push(message),
        onAdminByDefault: (...report) => void admins.push(report),
      },
    );
  afterAll(() => rmSync(dir, { recursive: true }));
  beforeEach(() => {
    problems.splice(0);
    admins.splice(0);
  });

  it('finds a key by its digest; its id is the first 12 digits of it', () => {
    const digest = sha256('k1');

    expect(open({ key: 'k1' }).find(digest)).toEqual({
      tenant: 'default',
      principalId: '',
      role: 'admin',
      keyId: `static:${digest.slice(0, 12)}`,
      keyName: `static:${digest.slice(0, 12)}`,
      allowCrossTenant: false,
      source: 'api_key',
      submitter: `apikey:${digest.slice(0, 16)}`,
    });
    expect(open({ key: 'k1' }).find(sha256('k2'))).toBeUndefined();
  });

  it('SVC_API_KEYS takes precedence over SVC_API_KEY for the same key', () => {
    expect(open({ key: 'k1', keys: 'acme:k1:viewer' }).find(sha256('k1'))).toMatchObject({ role: 'viewer' });
  });

  it('does not find an expired key', () => {
    const keys = open({ keys: '[{"key":"k1","expires_at":"2026-01-01T00:00:01Z"}]' });
    expect(keys.find(sha256('k1'))).toBeDefined();

    nowMs += 1_000;

    expect(keys.find(sha256('k1'))).toBeUndefined();
  });

  it('a changed file takes effect within 100 ms', () => {
    writeFileSync(path, 'k1');
    const keys = open({ path });

    writeFileSync(path, 'acme:k2');
    nowMs += 100;

    expect(keys.find(sha256('k1'))).toBeUndefined();
    expect(keys.find(sha256('k2'))).toMatchObject({ tenant: 'acme' });
  });

  it('a file that no longer parses keeps the previous keys and is reported once, without its content', () => {
    writeFileSync(path, 'k1');
    const keys = open({ path });

    writeFileSync(path, '[{"key":"very-private"');
    nowMs += 100;

    expect(keys.find(sha256('k1'))).toBeDefined();
    expect(keys.find(sha256('k1'))).toBeDefined();
    expect(problems).toEqual([expect.stringMatching(/^(?!.*very-private).*not valid JSON/)]);
  });

  it('a deleted file keeps the previous keys', () => {
    writeFileSync(path, 'k1');
    const keys = open({ path });

    unlinkSync(path);
    nowMs += 100;

    expect(keys.find(sha256('k1'))).toBeDefined();
    expect(problems).toHaveLength(1);
  });

  it('reports listed keys without a role, since they are admin keys; SVC_API_KEY always is one', () => {
    writeFileSync(path, 'acme:f1:viewer\nacme:f2');
    const keys = open({ key: 'k0', keys: 'k1,acme:k2:viewer,acme:k3', path });

    expect(keys.find(sha256('k1'))?.role).toBe('admin');
    expect(admins).toEqual([
      ['SVC_API_KEYS', [1, 3]],
      ['SVC_API_KEYS_PATH', [2]],
    ]);
  });

  it('production does not start without a key', () => {
    expect(() => open({ production: true })).toThrow(/production needs an API key/);
  });

  it.each([
    ['short1', /at least 32 characters/],
    ['a'.repeat(40), /at least two kinds of characters/],
    ['ab1'.repeat(12), /fewer repeated characters/],
    [`changeme-${strong}`, /no common words/],
    [`abcdef-${strong}`, /no common words/],
  ])('production rejects the weak key %s', (keys, message) => {
    expect(() => open({ production: true, keys })).toThrow(message);
    expect(() => open({ production: true, keys, skipSecretValidation: true })).not.toThrow();
    expect(() => open({ keys })).not.toThrow();
  });

  it('production accepts a random key', () => {
    expect(open({ production: true, keys: `acme:${strong}` }).count()).toBe(1);
  });
});
