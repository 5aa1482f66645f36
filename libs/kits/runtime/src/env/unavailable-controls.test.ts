import { apiEnv } from './api';
import { engineEnv } from './engine';
import { kernelEnv } from './kernel';
import { EnvError } from './problem';
import { readEnv } from './read';
import { schedulerEnv } from './scheduler';
import { unavailableControls } from './unavailable-controls';

const services = [apiEnv, engineEnv, kernelEnv, schedulerEnv];
const readProblems = (source: NodeJS.ProcessEnv) => {
  try {
    readEnv(schedulerEnv, source, { production: false });
  } catch (error) {
    if (error instanceof EnvError) return error.problems.map(({ name }) => name);
    throw error;
  }
  return [];
};

describe('security controls that are not available', () => {
  it.each(unavailableControls.map(({ name }) => name))('%s prevents startup', (name) => {
    expect(readProblems({ [name]: 'enforce' })).toEqual([name]);
  });

  it.each(['warn', 'enforce', 'true', 'ON', ' Enforce '])('SVC_LEGACY_HANDSHAKE=%s prevents startup', (mode) => {
    expect(readProblems({ SVC_LEGACY_HANDSHAKE: mode })).toEqual(['SVC_LEGACY_HANDSHAKE']);
  });

  it('do not prevent startup with a value that requests no protection', () => {
    const empty = unavailableControls.map(({ name }) => [name, '']);
    const inactive = unavailableControls.map(({ name, inactive: [value = ''] }) => [name, value.toUpperCase()]);

    expect(readProblems(Object.fromEntries(empty))).toEqual([]);
    expect(readProblems(Object.fromEntries(inactive))).toEqual([]);
  });

  it('are reported without their value, which may be a secret', () => {
    const read = () => readEnv(schedulerEnv, { SVC_RBAC_ROLE_DEFS: 'hunter2hunter2' }, { production: false });

    expect(read).toThrow(/SVC_RBAC_ROLE_DEFS is set: expected \[\] or no value/);
    expect(read).not.toThrow(/hunter2/);
  });

  it('are not declared as variables: the change that implements one removes its row', () => {
    const declared = services.flatMap(({ variables }) => Object.values<{ name: string }>(variables));

    const names = new Set(declared.map(({ name }) => name));
    expect(unavailableControls.filter(({ name }) => names.has(name))).toEqual([]);
  });
});
