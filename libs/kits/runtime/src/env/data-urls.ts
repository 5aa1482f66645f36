import { variables, type EnvOf, type Rule } from './declare';
import type { Problem } from './problem';
import { strong } from './rules';

const MIN_KEY_CHARS = 32;

/** Gateway, scheduler and engine must have the same key. */
export const dataUrlKeyVariables = variables({
  dataUrlKey: {
    name: 'SVC_DATA_URL_KEY',
    type: 'string',
    secret: true,
    doc: `Key that signs data URLs for workers, at least ${MIN_KEY_CHARS} characters; must be equal on gateway, scheduler and engine.`,
  },
  dataUrlKeyPath: { name: 'SVC_DATA_URL_KEY_PATH', type: 'path', doc: 'File of the data URL key.' },
});

export const dataUrlVariables = variables({
  ...dataUrlKeyVariables,
  dataUrlBase: {
    name: 'SVC_DATA_URL_BASE',
    type: 'url',
    doc: 'Gateway URL as seen by workers, such as https://gateway.example.com; when set, dispatches to workers without Redis access contain data URLs; must be equal on gateway, scheduler and engine. https:// in production.',
  },
});

type KeyEnv = EnvOf<typeof dataUrlKeyVariables> & { skipSecretValidation: boolean };

export const dataUrlKeyRules: Rule<KeyEnv> = (env) => [...keyStrength(env), ...oneKey(env)];

/** A short key can be brute-forced offline from any token, so development requires the length too. */
function keyStrength(env: KeyEnv): Problem[] {
  const { dataUrlKey: key } = env;
  if (key === undefined || key.length >= MIN_KEY_CHARS) return strong(env, 'SVC_DATA_URL_KEY', key, MIN_KEY_CHARS);
  const expected = `at least ${MIN_KEY_CHARS} characters`;
  const fix = 'Generate one, for example with `openssl rand -base64 36`.';
  return [{ name: 'SVC_DATA_URL_KEY', given: 'too short', expected, fix }];
}

function oneKey({ dataUrlKey, dataUrlKeyPath }: KeyEnv): Problem[] {
  if (dataUrlKey === undefined || dataUrlKeyPath === undefined) return [];
  const expected = 'nothing, because SVC_DATA_URL_KEY is set';
  return [{ name: 'SVC_DATA_URL_KEY_PATH', given: dataUrlKeyPath, expected, fix: 'Set one of the two.' }];
}

export const dataUrlRules: Rule<EnvOf<typeof dataUrlVariables> & { skipSecretValidation: boolean }> = (env) => [
  ...dataUrlKeyRules(env),
  ...baseForm(env.dataUrlBase, env.production),
  ...keyForBase(env),
];

function baseForm(text: string | undefined, production: boolean): Problem[] {
  if (text === undefined) return [];
  const { protocol, search, hash, username } = new URL(text);
  const protocols = production ? ['https:'] : ['https:', 'http:'];
  if (protocols.includes(protocol) && !search && !hash && !username) return [];
  const schemes = protocols.map((one) => `${one}//`).join(' or ');
  return [
    {
      name: 'SVC_DATA_URL_BASE',
      given: `a ${protocol}// URL`,
      expected: `${schemes}, without credentials, query and fragment`,
      fix: 'Set the gateway URL as seen by workers.',
    },
  ];
}

function keyForBase({ dataUrlBase, dataUrlKey, dataUrlKeyPath }: EnvOf<typeof dataUrlVariables>): Problem[] {
  if (dataUrlBase === undefined || dataUrlKey !== undefined || dataUrlKeyPath !== undefined) return [];
  const expected = 'a key, because SVC_DATA_URL_BASE is set';
  const fix = 'Set it, or SVC_DATA_URL_KEY_PATH, on gateway, scheduler and engine.';
  return [{ name: 'SVC_DATA_URL_KEY', expected, fix }];
}
