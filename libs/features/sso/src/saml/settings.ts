import { isSamlOn, type ApiEnv, StartError } from '@svc/runtime';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readBaseUrl, withoutSlash } from '../base-url';

/** Names of attributes. */
interface AttributeNames {
  email: string;
  name: string;
  role: string;
  tenant: string;
}

export interface SamlSettings {
  /** URL of the metadata of the provider; '' when `metadata` has them. */
  metadataUrl: string;
  /** XML. */
  metadata: string;
  entityId: string;
  acsUrl: string;
  /** PEM. */
  certificate: string;
  privateKey: string;
  binding: 'redirect' | 'post';
  allowIdpInitiated: boolean;
  stateTtlMs: number;
  attributes: AttributeNames;
  defaultRole: string;
  defaultTenant: string;
  provisions: boolean;
  syncs: boolean;
  httpsOnly: boolean;
}

const routes = '/api/v1/auth/sso/saml';

/**
 * The provider of the environment; undefined when there is none.
 *
 * @throws StartError when a file cannot be read, or certificate and key do not belong together
 */
export function readSamlSettings(env: ApiEnv): SamlSettings | undefined {
  if (!isSamlOn(env)) return undefined;
  const base = env.samlBaseUrl === undefined ? readBaseUrl(env) : withoutSlash(env.samlBaseUrl);
  const certificate = readText(env.samlCertPath ?? '', 'SVC_SAML_CERT_PATH');
  const privateKey = readText(env.samlKeyPath ?? '', 'SVC_SAML_KEY_PATH');
  requirePair(certificate, privateKey);
  const { samlIdpMetadata: given = '' } = env;
  return {
    metadataUrl: env.samlIdpMetadataUrl ?? '',
    metadata: given.trim().startsWith('<') || given === '' ? given : readText(given, 'SVC_SAML_IDP_METADATA'),
    entityId: env.samlEntityId ?? `${base}${routes}/metadata`,
    acsUrl: `${base}${routes}/acs`,
    certificate,
    privateKey,
    binding: env.samlBinding,
    allowIdpInitiated: env.samlAllowIdpInitiated,
    stateTtlMs: env.samlStateTtlMs,
    attributes: {
      email: env.samlEmailAttr,
      name: env.samlNameAttr,
      role: env.samlRoleAttr,
      tenant: env.samlTenantAttr,
    },
    defaultRole: env.samlDefaultRole,
    defaultTenant: env.defaultTenant,
    provisions: !env.samlDisableAutoProvision,
    syncs: !env.samlDisableRoleSync,
    httpsOnly: env.production,
  };
}

const refuse = (where: string, why: string) =>
  new StartError(`SAML cannot be used: ${why}`, where, 'Correct the file.');

function readText(path: string, variable: string): string {
  if (!existsSync(path)) throw refuse(`${variable} (${path})`, 'the file does not exist');
  return readFileSync(path, 'utf8');
}

function requirePair(certificate: string, privateKey: string): void {
  const where = 'SVC_SAML_CERT_PATH and SVC_SAML_KEY_PATH';
  let isPair: boolean;
  try {
    isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey));
  } catch {
    throw refuse(where, 'they must be a certificate and a private key in PEM format');
  }
  if (!isPair) throw refuse(where, 'the key is not the one of the certificate');
} // prettier-ignore
