/** Page to which a sign-in returns, or its result as JSON. */
export type RedirectTarget = { kind: 'page'; url: string } | { kind: 'json' };

/**
 * Chooses the page to return to. Only the origin of the default page is permitted: a page of another origin would receive the
 * session token in its fragment.
 *
 * @param wanted as the client sent it; undefined = the default page, '' = no redirect
 * @param defaultPage absolute URL
 */
export function chooseTarget(wanted: string | undefined, defaultPage: string): RedirectTarget {
  if (wanted === '') return { kind: 'json' };
  const page = { kind: 'page', url: withoutFragment(new URL(defaultPage)) } as const;
  // Browsers read `\` as `/`, and skip tabs and line breaks, so that `/\host` and `/<tab>/host` are other hosts.
  if (wanted === undefined || /[\\\p{Cc}]/u.test(wanted) || wanted.startsWith('//')) return page;
  const isPath = wanted.startsWith('/');
  if (!isPath && !/^https?:\/\/[^/]/i.test(wanted)) return page;
  if (!URL.canParse(wanted, defaultPage)) return page;
  const url = new URL(wanted, defaultPage);
  const isOwn = url.origin === new URL(defaultPage).origin && url.username === '' && url.password === '';
  return isOwn ? { kind: 'page', url: withoutFragment(url) } : page;
}

/** The page, with values in its fragment, which browsers send to no server. Empty values are omitted. */
export function withFragment(page: string, values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) => (value ? [[name, value] as [string, string]] : []));
  return `${page}#${new URLSearchParams(given).toString()}`;
}

function withoutFragment(url: URL): string {
  const copy = new URL(url);
  copy.hash = '';
  return copy.href;
}
