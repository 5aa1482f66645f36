import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scopeIncludes } from './script-scopes';

describe('the scopes of includes', () => {
  it('hide names that no other part uses', () => {
    expect(scopeIncludes(['local a = 1\nlocal function f()\n  local b = a\nend'], [])).toEqual([
      'do\nlocal a = 1\nlocal function f()\n  local b = a\nend\nend',
    ]);
  });

  it('share the others, with and without a value, and those that are declared with them', () => {
    const [shared] = scopeIncludes(
      ['local a = { 1,\n  2 }\nlocal b\nlocal c, d = 1, 2\nlocal function f()\n  return b\nend\nlocal e = 3'],
      ['return a, b, d, f()'],
    );

    expect(shared).toBe(
      'local a, b, c, d, f\ndo\na = { 1,\n  2 }\n\nc, d = 1, 2\nfunction f()\n  return b\nend\nlocal e = 3\nend',
    );
  });

  it('leave room for more includes in a library of 200 local variables', () => {
    const dir = join(__dirname, 'scripts');
    const read = (folder: string, files: readonly string[]) => files.map((file) => readFileSync(join(folder, file), 'utf8'));
    const lua = (folder: string) => readdirSync(folder).filter((file) => file.endsWith('.lua'));
    const includes = read(join(dir, 'include'), lua(join(dir, 'include')).filter((file) => file !== 'batch.lua'));

    const scoped = scopeIncludes(includes, [...read(dir, lua(dir)), ...read(join(dir, 'include'), ['batch.lua'])]);

    const shared = scoped.map((text) => text.split('\n')[0] ?? '').filter((line) => line.startsWith('local '));
    expect(shared.flatMap((line) => line.split(', ')).length).toBeLessThan(160);
  }); // prettier-ignore
});
