import { checkDefinition } from '@svc/workflow';
import { exampleIds, readExample } from './read-examples';

describe('the examples of workflows', () => {
  it.each(exampleIds)('%s is valid, and named as its file', (name) => {
    const definition = readExample(name);

    expect(checkDefinition({ ...definition, org_id: 'acme' })).toMatchObject({ kind: 'ok' });
    expect(definition['id']).toBe(`example-${name}`);
  });
});
