import type { Problem } from '@svc/contract';
import { mergePolicies, type MergeOptions, type Policy } from '../compile/merge-policies';
import { parsePolicy } from '../document/parse-policy';
import type { PolicyDocument } from '../document/policy-document';
import type { BundleRecord } from './bundle-record';

/** A text that is tried in the place of a bundle, or as a new one; it counts as enabled. */
export interface CandidateBundle {
  id: string;
  content: string;
}

export interface BundleParts extends MergeOptions {
  /** The file or URL document, as it was parsed. */
  base: readonly PolicyDocument[];
  /** Every stored bundle by its id, in any order; only those that are enabled count. */
  bundles: ReadonlyMap<string, BundleRecord>;
  candidate?: CandidateBundle;
}

export type MergedBundles = { ok: true; policy: Policy } | { ok: false; problems: Problem[] };

/**
 * The policy in force: the base, then every enabled bundle by byte order of its id. A candidate is read as a write would
 * read it, stored bundles as a load does. One bundle that cannot be read makes the whole merge fail, since leaving it out
 * could lift its bans. See docs/reference/policy.md#documents.
 *
 * @returns the policy, or everything that is wrong with any bundle
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

/** Ids as they are merged. Sorting by UTF-16 units would differ from other implementations beyond U+FFFF. */
export const inByteOrder = (ids: readonly string[]): string[] =>
  [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
