const declaration = /^local (function )?(\w+(?:, \w+)*)/gm;
const words = /\w+/g;

/**
 * Puts each include into a block of its own, outside which only the names are visible that other parts use: a Lua function,
 * and so the whole library, may have 200 local variables at most.
 *
 * @param includes Lua in dependency order; declarations at the beginning of a line are those of the include
 * @param users Lua that uses the includes
 */
export function scopeIncludes(includes: readonly string[], users: readonly string[]): string[] {
  const used = [...includes, ...users].map((text) => new Set(text.match(words)));
  return includes.map((text, i) => {
    const isShared = (name: string) => used.some((names, other) => other !== i && names.has(name));
    const shared = new Set<string>();
    for (const [, , list = ''] of text.matchAll(declaration)) {
      const names = list.split(', ');
      // Names that are declared together are shared together.
      if (names.some(isShared)) for (const name of names) shared.add(name);
    }
    if (shared.size === 0) return `do\n${text}\nend`;
    const assigned = text.replace(declaration, (whole, isFunction: string | undefined, list: string) => {
      if (!list.split(', ').some((name) => shared.has(name))) return whole;
      return `${isFunction ?? ''}${list}`;
    });
    return `local ${[...shared].join(', ')}\ndo\n${withoutValues(assigned, shared)}\nend`;
  });
}

/** A shared declaration without a value has become a name alone, which is no statement. */
const withoutValues = (text: string, shared: ReadonlySet<string>): string =>
  text
    .split('\n')
    .map((line) => (shared.has(line) ? '' : line))
    .join('\n');
