import { variables } from './declare';

/** What the gateway and the scheduler read alike of schemas. */
export const schemaVariables = variables({
  schemaEnforcement: {
    name: 'SCHEMA_ENFORCEMENT',
    type: 'enum',
    choices: ['off', 'warn', 'enforce'],
    shownDefault: 'what config says, else warn',
    doc: 'What happens to an input or result that does not fit its topic: not checked, accepted with a warning, or rejected.',
  },
});
