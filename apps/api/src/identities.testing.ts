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
 * is a second admin of the first tenant.
 */
export const identities = {
  admin: key('admin', 'admin', 'ann'),
  boss: key('boss', 'admin', 'bob'),
  operator: key('operator', 'operator', 'ola'),
  user: key('user', 'user', 'uma'),
  viewer: key('viewer', 'viewer', 'vic'),
  clerk: key('clerk', 'clerk', 'cleo'),
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
  (plan: string, entitlements: Readonly<Record<string, unknown>> = {}): string => {
    const payload = { org_id: 'acme', license_id: 'l-1', plan, not_before: '2020-01-01T00:00:00Z', entitlements };
    const signature = sign(null, Buffer.from(JSON.stringify(payload)), pair.privateKey).toString('base64');
    return JSON.stringify({ kid: 'test', payload, signature });
  },
  { publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString() },
);
