/**
 * Joins the identities of everyone who contributed to a record (its author, editors and resubmitters) into one string,
 * `apikey:<hash>|principal:<id>`, so that none of them can approve it alone.
 *
 * @returns each part once, in order of first occurrence; empty parts are omitted
 */
export function joinIdentities(...identities: (string | undefined)[]): string {
  return [...new Set(identities.flatMap((text = '') => splitParts(text)))].join('|');
}

/** Whether two identities have an API key, a session or a principal in common. */
export function sharesIdentity(one: string, other: string): boolean {
  const theirs = new Set(splitParts(one));
  return splitParts(other).some((part) => theirs.has(part));
}

const splitParts = (text: string): string[] => text.split('|').filter((part) => part !== '' && !part.endsWith(':'));
