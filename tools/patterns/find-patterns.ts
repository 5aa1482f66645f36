import { builtInDefinitions } from '@svc/scanning';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { repositoryRoot } from '../stack/settings';

/** A regular expression of the product. */
export interface FoundPattern {
  source: string;
  flags: string;
  /** Files that contain it, or its scanner. */
  where: string[];
}

export interface FoundPatterns {
  /** By `/source/flags`. */
  patterns: ReadonlyMap<string, FoundPattern>;
  /** Files that build expressions at run time, which cannot be checked statically. */
  builders: ReadonlySet<string>;
}

export const written = ({ source, flags }: Pick<FoundPattern, 'source' | 'flags'>): string => `/${source}/${flags}`;

/** All regular expression literals in apps and libraries, and the patterns of the built-in scanners. */
export function findPatterns(): FoundPatterns {
  const patterns = new Map<string, FoundPattern>();
  const builders = new Set<string>();
  const add = (source: string, flags: string, where: string) => {
    const found = patterns.get(written({ source, flags })) ?? { source, flags, where: [] };
    if (!found.where.includes(where)) found.where.push(where);
    patterns.set(written(found), found);
  };
  for (const file of productFiles()) {
    const where = relative(repositoryRoot, file);
    const tree = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/');
        add(node.text.slice(1, end), node.text.slice(end + 1), where);
      }
      if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'RegExp') {
        builders.add(where);
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
  }
  for (const [scanner, definition] of Object.entries(builtInDefinitions)) {
    for (const { name, regex } of definition.patterns) {
      const [, isFolded, source = ''] = /^(\(\?i\))?([^]*)$/.exec(regex) ?? [];
      // Matched at one position at a time, where a needle was found.
      add(`^(?:${source})`, isFolded ? 'i' : '', `scanner ${scanner}: ${name}`);
    }
  }
  return { patterns, builders };
}

function productFiles(): string[] {
  const isProduct = (name: string) => name.endsWith('.ts') && !/\.(test|testing|fixture|d)\.ts$/.test(name);
  return ['apps', 'libs'].flatMap((folder) =>
    readdirSync(join(repositoryRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => isProduct(name) && !/(^|\/)(node_modules|testing)\//.test(name))
      .map((name) => join(repositoryRoot, folder, name)),
  );
}
