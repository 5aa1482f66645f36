import { variables, type EnvOf, type Rule } from './declare';
import { strong } from './rules';

/** The gateway, which serves SCIM. */
export const scimVariables = variables({
  apiBaseUrl: {
    name: 'SVC_API_BASE_URL',
    aliases: ['SVC_API_BASE'],
    type: 'url',
    doc: 'URL of this gateway as identity providers and browsers see it, such as https://gateway.example.com. Default: as each request names it.',
  },
  scimBearerToken: {
    name: 'SVC_SCIM_BEARER_TOKEN',
    type: 'string',
    secret: true,
    doc: 'SCIM token, until one is issued through the API.',
  },
  scimDeletedUsers: {
    name: 'SVC_SCIM_DELETED_USERS',
    type: 'enum',
    choices: ['hidden', 'readable'],
    default: 'hidden',
    doc: 'Users that a SCIM client deleted: hidden (404), as RFC 7644 has it, or readable with active false.',
  },
});

type ScimEnv = EnvOf<typeof scimVariables> & { readonly production: boolean; readonly skipSecretValidation: boolean };

export const scimRules: Rule<ScimEnv> = (env) => strong(env, 'SVC_SCIM_BEARER_TOKEN', env.scimBearerToken, 32);
