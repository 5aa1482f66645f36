/** The caller's own limit on an artifact, from query and header; values that are not positive numbers are ignored. */
export function effectiveLimit(query: number | undefined, header: string | undefined): number | undefined {
  const given = [query, Number(header)].filter((bytes): bytes is number => bytes !== undefined && bytes > 0);
  return given.length > 0 ? Math.min(...given) : undefined;
}
