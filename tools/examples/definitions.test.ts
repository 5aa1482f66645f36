import { checkDefinition } from '@svc/workflow';
import { exampleIds, readExample } from './read-examples';

describe('workflow examples', () => {
  it.each(exampleIds)('%s is valid, and has the id of its file name', (name) => {
    const definition = readExample(name);

    expect(checkDefinition({ ...definition, org_id: 'acme' })).toMatchObject({ kind: 'ok' });
    expect(definition['id']).toBe(`example-${name}`);
  });
});
