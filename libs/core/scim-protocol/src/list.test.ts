import { project, sortResources, takePage } from './list';
import { readResource } from './read-resource';
import { buildUserSchema } from './user-schema';

const schema = buildUserSchema(['viewer']);
const ada = { schemas: ['s'], id: '1', userName: 'ada', name: { givenName: 'Ada', familyName: 'B' }, active: true };

describe('lists of resources', () => {
  it('returns the attributes that were asked for, and those that are always returned', () => {
    const shown = (names: string[]) => project(schema, ada, { attributes: names });

    expect(shown(['USERNAME'])).toEqual({ schemas: ['s'], id: '1', userName: 'ada' });
    expect(shown(['name.givenName', 'shoeSize'])).toEqual({ schemas: ['s'], id: '1', name: { givenName: 'Ada' } });
    expect(shown(['name', 'name.givenName'])).toEqual({ schemas: ['s'], id: '1', name: ada.name });
    expect(project(schema, ada, { excludedAttributes: ['id', 'name.familyName', 'active'] })).toEqual({
      schemas: ['s'],
      id: '1',
      userName: 'ada',
      name: { givenName: 'Ada' },
    });
  });

  it('sorts ignoring case, with resources that lack the attribute last, and first in descending order', () => {
    const people = [{ id: '3', displayName: 'b' }, { id: '2' }, { id: '1', displayName: 'A' }, { id: '0', displayName: 'a' }];
    const ids = (order: 'ascending' | 'descending') =>
      sortResources(schema, people, 'displayName', order).map(({ id }) => id);

    expect([ids('ascending'), ids('descending')]).toEqual([['0', '1', '3', '2'], ['2', '3', '0', '1']]);
  }); // prettier-ignore

  it('takes pages of at most 200', () => {
    const items = Array.from({ length: 500 }, (_, i) => i);

    expect(takePage(items, { startIndex: -5, count: 2 })).toEqual({ startIndex: 1, page: [0, 1] });
    expect(takePage(items, { startIndex: 499, count: 9 }).page).toEqual([498, 499]);
    expect(takePage(items, { count: 999 }).page).toHaveLength(200);
    expect(takePage(items, {}).page).toHaveLength(100);
    expect(takePage(items, { count: -1 }).page).toEqual([]);
  });
});

describe('a resource that a client sends', () => {
  it('is read with the names of the schema, without unknown, read-only and empty attributes', () => {
    const sent = { USERNAME: 'ada', id: 'x', meta: { version: 'y' }, shoeSize: 9, displayName: '', emails: [], name: null, active: 'TRUE' };

    expect(readResource(schema, sent)).toEqual({ userName: 'ada', active: true });
  }); // prettier-ignore
});
