import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const root = join(__dirname, '../..');
/** Tracked and new files, without copies of other sources. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString('utf8')
  .split('\n')
  .filter((path) => /\.(ts|mjs|md|lua|proto|yaml|yml|conf|py)$/.test(path) && existsSync(join(root, path)));
const readText = (path: string) => readFileSync(join(root, path), 'utf8');

/** The anchor of a heading on GitHub. */
const toAnchor = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

const anchors = new Map<string, ReadonlySet<string>>();
function readAnchors(path: string): ReadonlySet<string> {
  const known = anchors.get(path);
  if (known) return known;
  const counts = new Map<string, number>();
  const found = new Set<string>();
  for (const [, heading = ''] of readText(path)
    .replace(/^```[^]*?^```/gm, '')
    .matchAll(/^#{1,6} +(.+)$/gm)) {
    const anchor = toAnchor(heading);
    const before = counts.get(anchor) ?? 0;
    counts.set(anchor, before + 1);
    found.add(before === 0 ? anchor : `${anchor}-${before}`);
  }
  anchors.set(path, found);
  return found;
}

/** The error in a reference, or undefined. */
function findFault(path: string, anchor: string | undefined): string | undefined {
  if (!existsSync(join(root, path))) return 'no such file';
  if (anchor === undefined || !path.endsWith('.md') || statSync(join(root, path)).isDirectory()) return undefined;
  return readAnchors(path).has(anchor) ? undefined : 'no such heading';
}

describe('references to documentation', () => {
  it('in code, comments and texts name a page and a heading that exist', () => {
    const broken = files.flatMap((file) =>
      [...readText(file).matchAll(/\bdocs\/[\w./-]+\.md(?:#([\w-]+))?/g)].flatMap(([reference, anchor]) => {
        const fault = findFault(reference.replace(/#.*$/, ''), anchor);
        return fault ? [`${file}: ${reference}: ${fault}`] : [];
      }),
    );

    expect(broken).toEqual([]);
  });

  it('as links between pages lead to a file and a heading that exist', () => {
    const broken = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) =>
        [...readText(file).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([\w-]+))?\)/g)].flatMap(
          ([link, path = '', anchor]) => {
            const target = path === '' ? file : normalize(join(dirname(file), path));
            const fault = findFault(target, anchor);
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
        readText(file)
          // A comment may break the line within a citation.
          .replace(/\n[ \t]*(\*|\/\/|--|#)?[ \t]*/g, (line) => ` ${'\0'.repeat(line.length - 1)}`)
          .match(new RegExp(citation, 'gi'))
          ?.map((text) => `${file}: ${text.replaceAll('\0', '')}`) ?? [],
    );

    expect(found).toEqual([]);
  });
});
