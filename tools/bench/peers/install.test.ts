import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../stack/settings';
import { restateVersion } from './install';

interface Lock {
  packages: Record<string, { version?: string; integrity?: string; dependencies?: Record<string, string> }>;
}
const { packages } = JSON.parse(
  readFileSync(join(repositoryRoot, 'tools/bench/peers/restate-lock.json'), 'utf8'),
) as Lock;

describe('the packages of the peer', () => {
  it('are pinned by version and content', () => {
    const { '': root, ...installed } = packages;

    expect(Object.values(root?.dependencies ?? {})).toEqual([
      expect.stringMatching(/^\d+\.\d+\.\d+$/),
      expect.stringMatching(/^\d+\.\d+\.\d+$/),
    ]);
    expect(Object.values(installed).filter(({ integrity }) => !integrity?.startsWith('sha512-'))).toEqual([]);
    expect(restateVersion()).toBe(root?.dependencies?.['@restatedev/restate-server']);
  });

  it('are no packages of this repository, which everybody would download', () => {
    expect(readFileSync(join(repositoryRoot, 'package-lock.json'), 'utf8')).not.toContain('@restatedev/');
  });
});
