import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const root = join(__dirname, '../..');
/** Files under version control and new ones, without those that are copies of other sources. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString('utf8')
  .split('\n')
  .filter((path) => /\.(ts|mjs|md|lua|proto|yaml|yml|conf|py)$/.test(path) && existsSync(join(root, path)));
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

const anchors = new Map<string, ReadonlySet<string>>();
function anchorsOf(path: string): ReadonlySet<string> {
  const known = anchors.get(path);
  if (known) return known;
  const counts = new Map<string, number>();
  const found = new Set<string>();
  for (const [, heading = ''] of textOf(path)
    .replace(/^```[^]*?^```/gm, '')
    .matchAll(/^#{1,6} +(.+)$/gm)) {
    const anchor = anchorOf(heading);
    const before = counts.get(anchor) ?? 0;
    counts.set(anchor, before + 1);
    found.add(before === 0 ? anchor : `${anchor}-${before}`);
  }
  anchors.set(path, found);
  return found;
}

/** What is wrong with a reference, or undefined. */
function faultOf(path: string, anchor: string | undefined): string | undefined {
  if (!existsSync(join(root, path))) return 'no such file';
  if (anchor === undefined || !path.endsWith('.md') || statSync(join(root, path)).isDirectory()) return undefined;
  return anchorsOf(path).has(anchor) ? undefined : 'no such heading';
}

describe('references to documentation', () => {
  it('in code, comments and texts name a page and a heading that exist', () => {
    const broken = files.flatMap((file) =>
      [...textOf(file).matchAll(/\bdocs\/[\w./-]+\.md(?:#([\w-]+))?/g)].flatMap(([reference, anchor]) => {
        const fault = faultOf(reference.replace(/#.*$/, ''), anchor);
        return fault ? [`${file}: ${reference}: ${fault}`] : [];
      }),
    );

    expect(broken).toEqual([]);
  });

  it('as links between pages lead to a file and a heading that exist', () => {
    const broken = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) =>
        [...textOf(file).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([\w-]+))?\)/g)].flatMap(
          ([link, path = '', anchor]) => {
            const target = path === '' ? file : normalize(join(dirname(file), path));
            const fault = faultOf(target, anchor);
            return fault ? [`${file}: ${link}: ${fault}`] : [];
          },
        ),
      );

    expect(broken).toEqual([]);
  });

  it('cite no section of a document outside the repository', () => {
    const citation =
      /\b(core|engine|wire|policy|identity|operations|mcp|edge)\s+contract[,:]?\s+(section\s+)?[A-Z]?\d/i;
    const found = files.flatMap(
      (file) =>
        textOf(file)
          // A comment may break the line within a citation.
          .replace(/\n[ \t]*(\*|\/\/|--|#)?[ \t]*/g, (line) => ` ${'\0'.repeat(line.length - 1)}`)
          .match(new RegExp(citation, 'gi'))
          ?.map((text) => `${file}: ${text.replaceAll('\0', '')}`) ?? [],
    );

    expect(found).toEqual([]);
  });
});
