import type { Problem } from './problem';

/** A security control of the specification that this version does not implement. */
interface UnavailableControl {
  /** Variable that enables it. */
  name: string;
  control: string;
  /** Values that leave it disabled. */
  inactive: readonly string[];
}

const off = ['off', 'false', '0', 'no'];

/**
 * A service does not start while one of these is enabled; otherwise an operator would rely on a protection that does not
 * exist. The change that implements a control removes its row and declares its variables.
 */
export const unavailableControls: readonly UnavailableControl[] = [
  { name: 'SVC_LEGACY_HANDSHAKE', control: 'the handshake without proof of a key', inactive: off },
  { name: 'SVC_RBAC_ROLE_DEFS', control: 'roles of the environment, only those of the API', inactive: ['[]'] },
  { name: 'SVC_DELEGATION_POLICY_ENABLED', control: 'verification of delegation tokens', inactive: off },
];

/** Controls that the environment enables and this version does not implement. Omits values, as some are secrets. */
export function askedButUnavailable(source: NodeJS.ProcessEnv): Problem[] {
  return unavailableControls.flatMap(({ name, control, inactive }) => {
    const text = source[name]?.trim().toLowerCase() ?? '';
    if (text === '' || inactive.includes(text)) return [];
    return [
      {
        name,
        given: 'set',
        expected: inactive.length > 0 ? `${inactive[0]} or no value` : 'no value',
        fix: `This version does not have ${control}, so the setting has no effect. Unset it.`,
      },
    ];
  });
}
