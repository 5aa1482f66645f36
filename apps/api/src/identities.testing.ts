import { sha256, type NewSession } from '@svc/identity';
import { generateKeyPairSync, sign } from 'node:crypto';

const key = (name: string, role: string, principal_id: string, more: object = {}) => ({
  key: `key-of-the-${name}-0000000001`,
  tenant: 'acme',
  role,
  principal_id,
  ...more,
});

/**
 * API keys of the tests, by caller. Names that begin with `other` belong to another tenant, whose admin is `other`; `boss`
 * is a second admin of the first tenant, and the role of `guest` does not exist.
 */
export const identities = {
  admin: key('admin', 'admin', 'ann'),
  boss: key('boss', 'admin', 'bob'),
  operator: key('operator', 'operator', 'ola'),
  user: key('user', 'user', 'uma'),
  viewer: key('viewer', 'viewer', 'vic'),
  clerk: key('clerk', 'clerk', 'cleo'),
  guest: key('guest', 'guest', 'gert'),
  other: key('other', 'admin', 'gus', { tenant: 'globex' }),
  otherOperator: key('other-operator', 'operator', 'gia', { tenant: 'globex' }),
  otherUser: key('other-user', 'user', 'gil', { tenant: 'globex' }),
  otherViewer: key('other-viewer', 'viewer', 'gwen', { tenant: 'globex' }),
  otherClerk: key('other-clerk', 'clerk', 'gabe', { tenant: 'globex' }),
  everywhere: key('everywhere', 'admin', 'eve', { allow_cross_tenant: true }),
} as const;

export type Who = keyof typeof identities;

const pair = generateKeyPairSync('ed25519');

/** A license signed with this process's own key. See docs/operations.md#license. */
export const signLicense = Object.assign(
  (
    plan: string,
    entitlements: Readonly<Record<string, unknown>> = {},
    more: Readonly<Record<string, unknown>> = {},
  ): string => {
    const standard = { org_id: 'acme', license_id: 'l-1', plan, not_before: '2020-01-01T00:00:00Z', entitlements };
    const payload = { ...standard, ...more };
    const signature = sign(null, Buffer.from(JSON.stringify(payload)), pair.privateKey).toString('base64');
    return JSON.stringify({ kid: 'test', payload, signature });
  },
  { publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString() },
);

/** The session of an API key. */
export const keySession = (apiKey: string, tenant: string): NewSession => ({
  ...{ kind: 'api_key', keyDigest: sha256(apiKey), tenant, method: 'api_key', address: '127.0.0.1' },
});
