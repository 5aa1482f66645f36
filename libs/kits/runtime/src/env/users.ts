import { variables, type EnvOf, type Rule } from './declare';
import type { Problem } from './problem';
import { needed, strong } from './rules';

const MIN_KEY_CHARS = 32;

/** Users with passwords, their sessions and the limits of sign-ins. */
export const userVariables = variables({
  userAuth: {
    name: 'SVC_USER_AUTH_ENABLED',
    type: 'bool',
    default: 'false',
    doc: 'Users sign in with a password, and administrators manage them.',
  },
  adminUsername: {
    name: 'SVC_ADMIN_USERNAME',
    type: 'string',
    default: 'admin',
    doc: 'Username of the administrator who is created at the first start, in the default tenant.',
  },
  adminPassword: {
    name: 'SVC_ADMIN_PASSWORD',
    type: 'string',
    secret: true,
    doc: 'Password of that administrator. It is only read when the administrator is created.',
  },
  adminEmail: { name: 'SVC_ADMIN_EMAIL', type: 'string', doc: 'E-mail address of that administrator.' },
  sessionIdleMs: {
    name: 'SVC_SESSION_IDLE_TTL',
    type: 'duration',
    min: '5m',
    default: '8h',
    doc: 'Time without a request after which a session ends.',
  },
  maxLoginAttempts: {
    name: 'MAX_LOGIN_ATTEMPTS',
    type: 'int',
    min: 1,
    default: '5',
    doc: 'Failed sign-ins after which an address cannot sign in to that account for LOGIN_LOCKOUT_PERIOD.',
  },
  maxGlobalLoginAttempts: {
    name: 'MAX_GLOBAL_LOGIN_ATTEMPTS',
    type: 'int',
    min: 1,
    default: '50',
    doc: 'Failed sign-ins to one account, from all addresses in LOGIN_LOCKOUT_PERIOD, after which new addresses are slowed down.',
  },
  loginLockoutMs: {
    name: 'LOGIN_LOCKOUT_PERIOD',
    type: 'duration',
    min: '1s',
    default: '15m',
    doc: 'Time in which failed sign-ins are counted.',
  },
  userSecretKeys: {
    name: 'SVC_USER_SECRET_KEYS',
    type: 'list',
    secret: true,
    doc: `Keys that encrypt the second factors of users, each at least ${MIN_KEY_CHARS} characters. The first one encrypts and all decrypt. Without a key there are no second factors.`,
  },
  userSecretKeysPath: {
    name: 'SVC_USER_SECRET_KEYS_PATH',
    type: 'path',
    doc: 'File of these keys, separated by commas or line breaks.',
  },
});

type UserEnv = EnvOf<typeof userVariables> & { readonly production: boolean; readonly skipSecretValidation: boolean };

export const userRules: Rule<UserEnv> = (env) => [
  ...needed(env.userAuth, 'SVC_ADMIN_PASSWORD', env.adminPassword, 'SVC_USER_AUTH_ENABLED is on'),
  ...strong(env, 'SVC_ADMIN_PASSWORD', env.adminPassword, 16),
  ...keyStrength(env),
];

/** A copy of the store must not be enough to try keys, so development requires the length too. */
function keyStrength(env: UserEnv): Problem[] {
  const { userSecretKeys: keys, userSecretKeysPath: path } = env;
  const name = 'SVC_USER_SECRET_KEYS';
  if (keys.length > 0 && path !== undefined) {
    const expected = `nothing, because ${name} is set`;
    return [{ name: 'SVC_USER_SECRET_KEYS_PATH', given: path, expected, fix: 'Set one of the two.' }];
  }
  const problems = keys.flatMap((key) => {
    if (key.length >= MIN_KEY_CHARS) return strong(env, name, key, MIN_KEY_CHARS);
    const expected = `at least ${MIN_KEY_CHARS} characters in each key`;
    return [{ name, given: 'too short', expected, fix: 'Generate one, for example with `openssl rand -base64 36`.' }];
  });
  return problems.slice(0, 1);
}
