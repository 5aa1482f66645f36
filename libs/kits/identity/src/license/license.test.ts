import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mergeEntitlements, tiers, velocityRulesInForce } from './entitlements';
import { openLicense, type LicenseSettings } from './license';

const issuer = generateKeyPairSync('ed25519');
const publicKey = issuer.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const dayMs = 86_400_000;
const start = Date.UTC(2026, 0, 1);
const iso = (days: number) => new Date(start + days * dayMs).toISOString();

/** Signs the compact form of a payload; the payload in the file may be written differently. */
const license = (payload: object, written = JSON.stringify(payload), signed = JSON.stringify(payload)) => {
  const signature = sign(null, Buffer.from(signed), issuer.privateKey).toString('base64');
  return `{"kid": "1", "payload": ${written}, "signature": "ed25519:${signature}"}`;
};
const payload = { plan: 'enterprise', org_id: 'acme', expires_at: iso(100), entitlements: {} };
const settings: LicenseSettings = { file: '', token: '', publicKey, publicKeyPath: '', standardPaths: [] };

let nowMs = start;
const open = (some: Partial<LicenseSettings>) => openLicense({ ...settings, ...some }, { nowMs: () => nowMs });
const openState = (token: string) => open({ token }).state();

describe('the license', () => {
  beforeEach(() => (nowMs = start));

  it('defaults to the active Community plan', () => {
    expect(open({}).state()).toEqual({ status: 'active', plan: 'community', entitlements: tiers.community });
  });

  it('is accepted as JSON and as base64 of it', () => {
    expect(openState(license(payload))).toMatchObject({ status: 'active', plan: 'enterprise' });
    expect(openState(Buffer.from(license(payload)).toString('base64'))).toMatchObject({ plan: 'enterprise' });
  });

  it('is verified over the payload as written, ignoring whitespace between tokens', () => {
    const signed = '{"plan":"team","10":1,"2":1.0,"note":"a \\"b\\" , {c}","expires_at":"1900000000"}';
    const written = signed.replaceAll('":', '" :\n\t ');

    expect(openState(license({}, written, signed))).toMatchObject({ status: 'active', plan: 'team' });
  });

  it.each([
    ['another payload', license(payload, JSON.stringify({ ...payload, org_id: 'evil' }))],
    ['a second payload', license(payload).replace('{"kid"', `{"payload": {"plan":"team"}, "kid"`)],
    ['the old format', license({ ...payload, features: {} })],
    ['an invalid time', license({ ...payload, expires_at: 'never' })],
    ['not JSON', '{"payload":'],
    ['not a license', 'hello'],
    ['not valid yet', license({ ...payload, not_before: iso(1) })],
  ])('%s: falls back to Community with a reason', (_, token) => {
    expect(openState(token)).toMatchObject({
      status: 'fallback',
      plan: 'community',
      entitlements: tiers.community,
      problem: expect.any(String) as string,
    });
  });

  it('a second payload after the signed one is ignored', () => {
    const token = license(payload).replace(/}$/, ',"payload":{"plan":"team","expires_at":"9900000000"}}');

    expect(openState(token)).toMatchObject({ plan: 'enterprise', payload: { expiresAtMs: start + 100 * dayMs } });
  });

  it('falls back without a public key', () => {
    expect(open({ token: license(payload), publicKey: '' }).state()).toMatchObject({ status: 'fallback' });
  });

  it('accepts a key of 32 raw bytes', () => {
    const raw = Buffer.from(issuer.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');

    for (const written of [raw.toString('base64'), raw.toString('hex')]) {
      expect(open({ token: license(payload), publicKey: written }).state()).toMatchObject({ plan: 'enterprise' });
    }
  });

  it('an unknown plan is Community', () => {
    expect(openState(license({ ...payload, plan: 'galaxy' }))).toMatchObject({ status: 'active', plan: 'community' });
  });

  it.each([
    [69, 'active', 'enterprise'],
    [70, 'warning', 'enterprise'],
    [100, 'grace', 'enterprise'],
    [113.9, 'grace', 'enterprise'],
    [114, 'degraded', 'community'],
  ])('after %s of 100 days: %s', (days, status, plan) => {
    const held = open({ token: license(payload) });
    held.state();

    nowMs = start + days * dayMs;

    expect(held.state()).toMatchObject({ status, plan });
    expect(held.entitlements()).toEqual(tiers[plan as 'community']);
  });

  it('a negative grace period is none, and 0 is 14 days', () => {
    nowMs = start + 100 * dayMs;

    expect(openState(license({ ...payload, grace_days: -1 }))).toMatchObject({ status: 'degraded' });
    expect(openState(license({ ...payload, grace_days: 0 }))).toMatchObject({ status: 'grace' });
  });

  it('the file takes precedence over the token, the token over the standard paths; reload reads them again', () => {
    const dir = mkdtempSync(join(tmpdir(), 'license-'));
    const [file, standard] = [join(dir, 'a.json'), join(dir, 'b.json')];
    writeFileSync(file, license({ ...payload, org_id: 'file' }));
    writeFileSync(standard, license({ ...payload, org_id: 'standard' }));
    const token = license({ ...payload, org_id: 'token' });
    const org = (some: Partial<LicenseSettings>) => open(some).state().payload?.org_id;

    expect(org({ file, token })).toBe('file');
    expect(org({ token, standardPaths: [standard] })).toBe('token');
    expect(org({ standardPaths: [join(dir, 'none.json'), standard] })).toBe('standard');
    expect(open({ file: join(dir, 'none.json') }).state()).toMatchObject({ status: 'fallback' });

    const held = open({ file });
    writeFileSync(file, 'broken');
    expect(held.state().status).toBe('active');
    expect(held.reload()).toMatchObject({ status: 'fallback', plan: 'community' });
    rmSync(dir, { recursive: true });
  });
});

describe('grants of a license', () => {
  it('flags are ORed; the larger number wins, with -1 the largest; the higher approval mode wins', () => {
    const granted = {
      rbac: true,
      audit: false,
      max_workers: 10,
      max_concurrent_jobs: -1,
      requests_per_second: 'many',
      max_schema_count: 5,
      approval_mode: 'custom',
      telemetry_mode: 'off',
      features: { 'Dark-Mode x': true, bad: 'yes' },
      limits: { seats: 4 },
      surprise: true,
    };

    expect(mergeEntitlements('team', granted)).toEqual({
      ...tiers.team,
      rbac: true,
      max_workers: 25,
      max_concurrent_jobs: -1,
      max_schema_count: 5,
      approval_mode: 'custom',
      telemetry_mode: 'off',
      features: { dark_mode_x: true },
      limits: { seats: 4 },
    });
  });

  it('a lower approval mode is ignored; Team has 20 velocity rules once they are granted', () => {
    expect(mergeEntitlements('enterprise', { approval_mode: 'single' })).toEqual(tiers.enterprise);
    expect(mergeEntitlements('team', { velocity_rules: true }).velocity_rule_count).toBe(20);
    const inForce = [-1, 0, 2, 20].map((velocity_rule_count) => velocityRulesInForce({ velocity_rule_count }));
    expect(inForce).toEqual([-1, 3, 3, 20]);
  });

  it('hasFeature covers features and flags', () => {
    const held = openLicense(
      {
        ...settings,
        token: license({ ...payload, plan: 'team', entitlements: { sso: true, features: { beta: true } } }),
      },
      { nowMs: () => start },
    );

    expect([held.hasFeature('SSO'), held.hasFeature('beta'), held.hasFeature('scim')]).toEqual([true, true, false]);
  });
});
