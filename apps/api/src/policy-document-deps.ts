import { kernelSettings, loadBase, readPublicKey } from '@svc/kernel-client';
import type { Platform } from '@svc/platform';
import { publicHalf, readSigningKey, type SigningKey, type TrustedKeys } from '@svc/policy';
import { StartError, type ApiEnv } from '@svc/runtime';
import { ParsedBundleCache, type PolicySigning, type VelocityWriteDeps } from '@svc/policy-admin';
import type { AnnounceDeps } from '@svc/settings';
import { readFileSync } from 'node:fs';

/** Dependencies of policy writes, besides the store and the bus. See docs/reference/policy.md#bundles. */
export function policyDocumentDeps(
  env: ApiEnv,
  license: Platform['license'],
): Omit<VelocityWriteDeps, keyof AnnounceDeps | 'store'> {
  const { policyPath: path, policyUrl: url, policyMaxBytes: maxBytes, signature } = kernelSettings(env).local;
  return {
    signing: policySigning(env),
    defaultTenant: env.defaultTenant,
    maxContentBytes: env.policyMaxBytes,
    maxBundles: () => license.entitlements().max_policy_bundles,
    maxVelocityRules: () => license.entitlements().velocity_rule_count,
    parsed: new ParsedBundleCache(),
    async basePolicy() {
      const loaded = await loadBase({ path, url, maxBytes, signature });
      return loaded.ok ? [loaded.document] : [];
    },
  };
}

/**
 * @throws StartError naming the variable when a key is invalid, or when kernels would reject signatures made with it, so
 *   that every write would leave the previous policy in effect
 */
export function policySigning(
  env: Pick<
    ApiEnv,
    'policyStrict' | 'policySigningKey' | 'policySigningKeyPath' | 'policySigningKeyId' | 'policyPublicKeys'
  >,
): PolicySigning {
  const key = signingKey(env);
  const trusted: TrustedKeys = new Map([
    ...Object.entries(env.policyPublicKeys).flatMap(([id, text]) => {
      const known = readPublicKey(text);
      return known ? [[id.toUpperCase(), known] as const] : [];
    }),
    ...(key ? [[key.id.toUpperCase(), publicHalf(key)] as const] : []),
  ]);
  if (env.policyStrict === 'enforce' && key) requireTrusted(key, env.policyPublicKeys);
  return { strict: env.policyStrict, key, trusted };
}

function requireTrusted(key: SigningKey, publicKeys: Readonly<Record<string, string>>): void {
  const own = publicHalf(key);
  const isTrusted = Object.entries(publicKeys).some(
    ([id, text]) => id.toUpperCase() === key.id.toUpperCase() && readPublicKey(text)?.equals(own),
  );
  if (isTrusted) return;
  const name = `SVC_POLICY_PUBLIC_KEY_${key.id.toUpperCase()}`;
  const value = own.export({ type: 'spki', format: 'der' }).toString('base64');
  throw new StartError(
    'what this gateway signs would be refused by those who decide',
    name,
    `Set it to ${value} on every service.`,
  );
}

function signingKey(env: Parameters<typeof policySigning>[0]): SigningKey | undefined {
  const { policySigningKey: text, policySigningKeyPath: path, policySigningKeyId: id } = env;
  if (text === undefined && path === undefined) return undefined;
  const name = text === undefined ? `SVC_POLICY_SIGNING_KEY_PATH (${path ?? ''})` : 'SVC_POLICY_SIGNING_KEY';
  const key = readSigningKey(text ?? readKeyFile(path ?? '', name));
  if (key) return { id, key };
  throw new StartError('policy bundles cannot be signed', name, 'Give it a private Ed25519 key.');
}

function readKeyFile(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(`policy bundles cannot be signed: ${why}`, name, 'Name a file that can be read.');
  }
}
