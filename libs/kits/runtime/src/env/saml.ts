import { variables, type EnvOf, type Rule } from './declare';
import { needed } from './rules';

/** Sign-in with SAML 2.0. */
export const samlVariables = variables({
  samlEnabled: {
    name: 'SVC_SAML_ENABLED',
    type: 'bool',
    default: 'false',
    doc: 'Offers sign-in with SAML; also on when metadata of a provider is set.',
  },
  samlIdpMetadataUrl: {
    name: 'SVC_SAML_IDP_METADATA_URL',
    type: 'url',
    doc: 'URL of the metadata of the identity provider, read again every hour.',
  },
  samlIdpMetadata: {
    name: 'SVC_SAML_IDP_METADATA',
    type: 'string',
    doc: 'Metadata of the identity provider as XML, or the path of a file with it.',
  },
  samlBaseUrl: {
    name: 'SVC_SAML_BASE_URL',
    type: 'url',
    shownDefault: 'SVC_API_BASE_URL, else http://localhost:8081',
    doc: 'URL of this gateway as browsers reach it, for SAML.',
  },
  samlEntityId: {
    name: 'SVC_SAML_ENTITY_ID',
    type: 'string',
    shownDefault: 'the URL of /api/v1/auth/sso/saml/metadata',
    doc: 'Name of this service at the provider, and required audience of assertions.',
  },
  samlCertPath: {
    name: 'SVC_SAML_CERT_PATH',
    type: 'path',
    doc: 'Certificate (PEM) for which the provider encrypts assertions; required with SAML.',
  },
  samlKeyPath: {
    name: 'SVC_SAML_KEY_PATH',
    type: 'path',
    doc: 'Its private key (PEM), which also signs requests; required with SAML.',
  },
  samlBinding: {
    name: 'SVC_SAML_BINDING',
    type: 'enum',
    choices: ['redirect', 'post'],
    default: 'redirect',
    doc: 'Binding of requests to the provider.',
  },
  samlResponseBinding: {
    name: 'SVC_SAML_RESPONSE_BINDING',
    type: 'enum',
    choices: ['post'],
    default: 'post',
    doc: 'Binding of its responses.',
  },
  samlAllowIdpInitiated: {
    name: 'SVC_SAML_ALLOW_IDP_INITIATED',
    type: 'bool',
    default: 'false',
    doc: 'Accepts sign-ins that begin at the provider, which cannot be bound to a browser.',
  },
  samlStateTtlMs: {
    name: 'SVC_SAML_STATE_TTL',
    type: 'duration',
    min: '30s',
    max: '1h',
    default: '10m',
    doc: 'Time allowed for a sign-in at the provider.',
  },
  samlDefaultRole: {
    name: 'SVC_SAML_DEFAULT_ROLE',
    type: 'string',
    default: 'viewer',
    doc: 'Role of users whose assertion names none.',
  },
  samlEmailAttr: {
    name: 'SVC_SAML_EMAIL_ATTR',
    type: 'string',
    default: 'email',
    doc: 'Attribute of the e-mail address, by Name or FriendlyName.',
  },
  samlNameAttr: {
    name: 'SVC_SAML_NAME_ATTR',
    type: 'string',
    default: 'name',
    doc: 'Attribute of the display name.',
  },
  samlRoleAttr: { name: 'SVC_SAML_ROLE_ATTR', type: 'string', default: 'role', doc: 'Attribute of the role.' },
  samlTenantAttr: { name: 'SVC_SAML_TENANT_ATTR', type: 'string', default: 'tenant', doc: 'Attribute of the tenant.' },
  samlDisableAutoProvision: {
    name: 'SVC_SAML_DISABLE_AUTO_PROVISION',
    type: 'bool',
    default: 'false',
    doc: 'Lets only users sign in who exist already.',
  },
  samlDisableRoleSync: {
    name: 'SVC_SAML_DISABLE_ROLE_SYNC',
    type: 'bool',
    default: 'false',
    doc: 'Keeps role, name and e-mail address of existing users as they are.',
  },
});

export type SamlEnv = EnvOf<typeof samlVariables>;

export const isSamlOn = (env: Pick<SamlEnv, 'samlEnabled' | 'samlIdpMetadata' | 'samlIdpMetadataUrl'>): boolean =>
  env.samlEnabled || env.samlIdpMetadata !== undefined || env.samlIdpMetadataUrl !== undefined;

export const samlRules: Rule<SamlEnv & { readonly apiBaseUrl?: string | undefined }> = (env) => {
  const isOn = isSamlOn(env);
  const baseUrl = env.samlBaseUrl ?? env.apiBaseUrl ?? '';
  return [
    ...needed(isOn, 'SVC_SAML_IDP_METADATA_URL', env.samlIdpMetadataUrl ?? env.samlIdpMetadata, 'SAML is on'),
    ...needed(isOn, 'SVC_SAML_CERT_PATH', env.samlCertPath, 'SAML is on'),
    ...needed(isOn, 'SVC_SAML_KEY_PATH', env.samlKeyPath, 'SAML is on'),
    ...(isOn && env.production && !baseUrl.startsWith('https://')
      ? [
          {
            name: 'SVC_SAML_BASE_URL',
            given: 'a URL without TLS',
            expected: 'an https:// URL in production',
            fix: 'Set the URL at which browsers reach the gateway.',
          },
        ]
      : []),
  ];
};
