import { variables } from './declare';

/** Variables about schemas that gateway, scheduler and engine share. */
export const schemaVariables = variables({
  schemaEnforcement: {
    name: 'SCHEMA_ENFORCEMENT',
    type: 'enum',
    choices: ['off', 'warn', 'enforce'],
    shownDefault: 'from config, else warn',
    doc: 'Handling of inputs and results that violate the schema of their topic: not checked, accepted with a warning, or rejected.',
  },
});
