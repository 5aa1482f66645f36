import { variables, type EnvOf, type Rule } from './declare';
import { strong } from './rules';

const MIN_KEY_CHARS = 32;

/** Gateway and scheduler must have the same key. */
export const dataUrlKeyVariables = variables({
  dataUrlKey: {
    name: 'SVC_DATA_URL_KEY',
    type: 'string',
    secret: true,
    doc: `Key that data URLs of workers are signed with, at least ${MIN_KEY_CHARS} characters; the same for gateway and scheduler.`,
  },
  dataUrlKeyPath: { name: 'SVC_DATA_URL_KEY_PATH', type: 'path', doc: 'File of that key.' },
});

export const dataUrlVariables = variables({
  ...dataUrlKeyVariables,
  dataUrlBase: {
    name: 'SVC_DATA_URL_BASE',
    type: 'url',
    doc: 'Where workers reach the gateway, such as https://gateway.example.com; dispatches then carry data URLs. https:// in production.',
  },
});

export const dataUrlKeyRules: Rule<EnvOf<typeof dataUrlKeyVariables> & { skipSecretValidation: boolean }> = (env) => [
  ...strong(env, 'SVC_DATA_URL_KEY', env.dataUrlKey, MIN_KEY_CHARS),
  ...(env.dataUrlKey !== undefined && env.dataUrlKey.length < MIN_KEY_CHARS && !env.production
    ? [
        {
          name: 'SVC_DATA_URL_KEY',
          given: 'too short',
          expected: `at least ${MIN_KEY_CHARS} characters`,
          mend: 'Generate one, for example with `openssl rand -base64 36`.',
        },
      ]
    : []),
  ...(env.dataUrlKey !== undefined && env.dataUrlKeyPath !== undefined
    ? [
        {
          name: 'SVC_DATA_URL_KEY_PATH',
          given: env.dataUrlKeyPath,
          expected: 'nothing, because SVC_DATA_URL_KEY is set',
          mend: 'Set one of the two.',
        },
      ]
    : []),
];

export const dataUrlRules: Rule<EnvOf<typeof dataUrlVariables> & { skipSecretValidation: boolean }> = (env) => {
  const hasKey = env.dataUrlKey !== undefined || env.dataUrlKeyPath !== undefined;
  const schemes = env.production ? ['https:'] : ['https:', 'http:'];
  const base = env.dataUrlBase === undefined ? undefined : new URL(env.dataUrlBase);
  const isPlain = base && schemes.includes(base.protocol) && !base.search && !base.hash && !base.username;
  return [
    ...dataUrlKeyRules(env),
    ...(base && !hasKey
      ? [
          {
            name: 'SVC_DATA_URL_KEY',
            expected: 'a key, because SVC_DATA_URL_BASE is set',
            mend: 'Set it, or SVC_DATA_URL_KEY_PATH, here and on the gateway.',
          },
        ]
      : []),
    ...(base && !isPlain
      ? [
          {
            name: 'SVC_DATA_URL_BASE',
            given: `a ${base.protocol}// URL`,
            expected: `${schemes.map((scheme) => `${scheme}//`).join(' or ')}, without credentials, query and fragment`,
            mend: 'Give the address of the gateway as workers reach it.',
          },
        ]
      : []),
  ];
};
