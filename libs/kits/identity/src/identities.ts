/**
 * Identities behind a piece of work, as one text: `apikey:<hash>|principal:<id>`. Everyone whose words the work consists of
 * belongs to it, so that none of them can approve it alone: who wrote it first, who changed it, who asked for it again.
 *
 * @returns each part once, in the order of its first mention; parts without a name are left out
 */
export function joinIdentities(...identities: (string | undefined)[]): string {
  return [...new Set(identities.flatMap((text = '') => partsOf(text)))].join('|');
}

/** Whether two identities have an API key, a session or a principal in common. */
export function sharesIdentity(one: string, other: string): boolean {
  const theirs = new Set(partsOf(one));
  return partsOf(other).some((part) => theirs.has(part));
}

const partsOf = (text: string): string[] => text.split('|').filter((part) => part !== '' && !part.endsWith(':'));
