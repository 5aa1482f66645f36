import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../stack/settings';

const read = (file: string) => readFileSync(join(repositoryRoot, file), 'utf8');
const table = read('docs/fault-table.md');
const rows = [...table.matchAll(/^\| (\d+) \| .+? \| (.+) \|$/gm)].map(([, number = '', text = '']) => ({
  number: Number(number),
  text,
}));
const covered = rows.flatMap(({ number, text }) => {
  const [, file = '', name = ''] = /^`(.+?)`: (.+)$/.exec(text) ?? [];
  return file === '' ? [] : [[number, file, name] as const];
});
const wanted = [...Array.from({ length: 19 }, (_, i) => i + 1), 24, 25, 26, 27, 32, 33, 35, 37, 38, 39];

describe('docs/fault-table.md', () => {
  it('names a test for every fault, or the reason for having none', () => {
    expect(new Set(rows.map(({ number }) => number))).toEqual(new Set(wanted));
    const open = rows.filter(({ number }) => !covered.some(([one]) => one === number));
    expect(open.length + new Set(covered.map(([number]) => number)).size).toBe(wanted.length);
  });

  it.each(covered)('%i: %s has the test: %s', (_, file, name) => {
    expect(existsSync(join(repositoryRoot, file))).toBe(true);
    // In the file the name is a complete quoted string.
    expect([`${name}',`, `${name}\`,`].some((end) => read(file).includes(end))).toBe(true);
  });
});
