import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { declaredEntries } from './declared-uses.testing';

const table = `
  type Entry = { name: string };
  const variables = <const T extends Record<string, Entry>>(table: T): T => table;
  export const own = variables({
    accessed: { name: 'ACCESSED' },
    destructured: { name: 'DESTRUCTURED' },
    picked: { name: 'PICKED' },
    unread: { name: 'UNREAD' },
    namesake: { name: 'NAMESAKE' },
    onlyTested: { name: 'ONLY_TESTED' },
  });
  export type Env = { readonly [K in keyof typeof own]: string };
`;
const main = `
  import type { Env } from './tables/table';
  const read = (env: Pick<Env, 'picked'>) => env.picked;
  export function start(env: Env, other: { namesake: string }) {
    const { destructured: renamed } = env;
    return [env.accessed, renamed, read(env), other.namesake];
  }
`;
const test = `
  import type { Env } from './tables/table';
  export const asserted = (env: Env) => env.onlyTested;
`;

describe('declaredEntries', () => {
  it('lists the files that read an entry, without reads in tests or of another entry with the same name', () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-declared-'));
    mkdirSync(join(dir, 'tables'));
    writeFileSync(join(dir, 'tables/table.ts'), table);
    writeFileSync(join(dir, 'main.ts'), main);
    writeFileSync(join(dir, 'main.test.ts'), test);

    const entries = declaredEntries(join(dir, 'tables'), [join(dir, 'main.ts')]);

    const used = join(dir, 'main.ts');
    expect(entries).toEqual([
      { key: 'accessed', name: 'ACCESSED', usedIn: [used] },
      { key: 'destructured', name: 'DESTRUCTURED', usedIn: [used] },
      { key: 'picked', name: 'PICKED', usedIn: [used] },
      { key: 'unread', name: 'UNREAD', usedIn: [] },
      { key: 'namesake', name: 'NAMESAKE', usedIn: [] },
      { key: 'onlyTested', name: 'ONLY_TESTED', usedIn: [] },
    ]);
    rmSync(dir, { recursive: true });
  });
});
