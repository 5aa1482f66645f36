import { variables, type EnvOf, type Rule } from './declare';
import type { Problem } from './problem';
import { strong } from './rules';

const MIN_KEY_CHARS = 32;

/** Gateway, scheduler and engine must have the same keys. */
export const resultTicketVariables = variables({
  resultTicketKeys: {
    name: 'SVC_RESULT_TICKET_KEYS',
    type: 'list',
    secret: true,
    doc: `Keys that encrypt result tickets, each at least ${MIN_KEY_CHARS} characters. The first one encrypts and all decrypt; must be equal on gateway, scheduler and engine. When set, messages contain inputs and results up to 64 KiB for workers that support it.`,
  },
  resultTicketKeysPath: {
    name: 'SVC_RESULT_TICKET_KEYS_PATH',
    type: 'path',
    doc: 'File of the result ticket keys, separated by commas or line breaks.',
  },
});

type TicketEnv = EnvOf<typeof resultTicketVariables> & { skipSecretValidation: boolean };

export const resultTicketRules: Rule<TicketEnv> = (env) => [...keyStrength(env), ...oneSource(env)];

/** A worker can try keys offline on its tickets, so development requires the length too. */
function keyStrength(env: TicketEnv): Problem[] {
  const { resultTicketKeys: keys } = env;
  const name = 'SVC_RESULT_TICKET_KEYS';
  const problems = keys.flatMap((key) => {
    if (key.length >= MIN_KEY_CHARS) return strong(env, name, key, MIN_KEY_CHARS);
    const expected = `at least ${MIN_KEY_CHARS} characters in each key`;
    const fix = 'Generate one, for example with `openssl rand -base64 36`.';
    return [{ name, given: 'too short', expected, fix }];
  });
  return problems.slice(0, 1);
}

function oneSource({ resultTicketKeys: keys, resultTicketKeysPath: path }: TicketEnv): Problem[] {
  if (keys.length === 0 || path === undefined) return [];
  const expected = 'nothing, because SVC_RESULT_TICKET_KEYS is set';
  return [{ name: 'SVC_RESULT_TICKET_KEYS_PATH', given: path, expected, fix: 'Set one of the two.' }];
}
