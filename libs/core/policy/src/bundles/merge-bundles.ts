import type { Problem } from '@svc/contract';
import { mergePolicies, type MergeOptions, type Policy } from '../compile/merge-policies';
import { parsePolicy } from '../document/parse-policy';
import type { PolicyDocument } from '../document/policy-document';
import type { BundleRecord } from './bundle-record';

/** A text evaluated in place of a bundle, or as a new one; always enabled. */
export interface CandidateBundle {
  id: string;
  content: string;
}

export interface BundleParts extends MergeOptions {
  /** The parsed file or URL document. */
  base: readonly PolicyDocument[];
  /** All stored bundles by id, in any order; only enabled ones are merged. */
  bundles: ReadonlyMap<string, BundleRecord>;
  candidate?: CandidateBundle;
}

export type MergedBundles = { ok: true; policy: Policy } | { ok: false; problems: Problem[] };

/**
 * The policy in effect: the base, then every enabled bundle by byte order of its id. A candidate is parsed as strictly as
 * a write, stored bundles as a load. One invalid bundle fails the whole merge, since leaving it out could lift its bans.
 * See docs/reference/policy.md#documents.
 *
 * @returns the policy, or all problems of all bundles
 */
export function mergeBundles({ base, bundles, candidate, ...options }: BundleParts): MergedBundles {
  const texts = new Map(
    [...bundles].flatMap(([id, { enabled, content }]) => (enabled ? [[id, content] as const] : [])),
  );
  if (candidate) texts.set(candidate.id, candidate.content);

  const documents = [...base];
  const problems: Problem[] = [];
  for (const source of inByteOrder([...texts.keys()])) {
    const mode = source === candidate?.id ? 'write' : 'load';
    const parsed = parsePolicy(texts.get(source) ?? '', { source, mode });
    if (parsed.ok) documents.push(parsed.document);
    else problems.push(...parsed.problems);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, policy: mergePolicies(documents, options) };
}

/** Sorts ids in merge order. Sorting by UTF-16 units would differ from other implementations beyond U+FFFF. */
export const inByteOrder = (ids: readonly string[]): string[] =>
  [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
