import { mergeBundles, parsePolicy, type Policy, type PolicyDocument } from '@svc/policy';
import { open } from 'node:fs/promises';
import { problemText } from '../events';
import { fetchPolicy, splitUserinfo, type PolicyUrl, type ReadFile } from './fetch-policy';
import type { BundleSource, LoadedBundles } from './load-bundles';
import { signatureFault, type SignatureSettings } from './signature';

/** Source of the document that bundles are merged into. */
export interface BaseSource {
  path: string;
  /** Takes precedence over the path. */
  url?: PolicyUrl | undefined;
  maxBytes: number;
  signature: SignatureSettings;
}

export interface PolicySource {
  /** Reads the document that the bundles are merged into. */
  base(): Promise<LoadedBase>;
  bundles: Pick<BundleSource, 'load'>;
  /** Number of velocity rules the license allows; undefined or negative: any. */
  maxVelocityRules?: (() => number) | undefined;
}

export type LoadedBase = { ok: true; document: PolicyDocument } | { ok: false; problems: string[] };

export type LoadedPolicy =
  | {
      ok: true;
      policy: Policy;
      /** Revisions of the config documents it was read from. */
      revisions: string;
      /** Bundles loaded without a valid signature. */
      unsigned: readonly string[];
    }
  | {
      ok: false;
      problems: string[];
      /** Redis was unavailable; the next load may succeed. */
      isUnread: boolean;
    };

/** Reads, checks and merges the policy. Returns all problems. */
export async function loadPolicy(source: PolicySource): Promise<LoadedPolicy> {
  const [base, bundles] = await Promise.all([source.base(), loadBundles(source)]);
  const isUnread = !bundles.ok && bundles.unread === true;
  if (!base.ok || !bundles.ok) return { ok: false, isUnread, problems: [base, bundles].flatMap(getProblems) };
  const max = source.maxVelocityRules?.();
  const merged = mergeBundles({
    base: [base.document],
    bundles: bundles.bundles,
    overrides: bundles.overrides,
    ...(max !== undefined && { maxVelocityRules: max }),
  });
  if (!merged.ok)
    return { ok: false, isUnread, problems: merged.problems.map((problem) => `bundle ${problemText(problem)}`) };
  return { ok: true, policy: merged.policy, revisions: bundles.revisions, unsigned: bundles.unsigned };
}

/** Reads and checks the document of the file or URL. */
export async function loadBase(source: BaseSource): Promise<LoadedBase> {
  const { path, url, maxBytes, signature } = source;
  const name = policyName(source);
  const read = await (url ? fetchPolicy(url, maxBytes) : readCapped(path, maxBytes));
  if (!read.ok) return { ok: false, problems: [`${name}: ${read.fault}`] };
  const fault = await signatureFault(read.bytes, url ? undefined : `${path}.sig`, signature);
  if (fault) return { ok: false, problems: [`${name}: ${fault}`] };
  const parsed = parsePolicy(read.bytes.toString('utf8'), { source: name, mode: 'load' });
  return parsed.ok ? parsed : { ok: false, problems: parsed.problems.map(problemText) };
}

/** An unavailable Redis is a problem like others: the policy in effect stays. */
async function loadBundles({ bundles }: PolicySource): Promise<LoadedBundles> {
  try {
    return await bundles.load();
  } catch (error) {
    return {
      ok: false,
      unread: true,
      problems: [`cannot read the bundles (${error instanceof Error ? error.message : String(error)})`],
    };
  }
}

const getProblems = (loaded: LoadedBase | LoadedBundles): string[] => (loaded.ok ? [] : loaded.problems);

/** The name of the policy in problems: its path, or its URL without credentials. */
export const policyName = ({ path, url }: Pick<BaseSource, 'path' | 'url'>): string =>
  url ? splitUserinfo(url.url).url : path;

/** Reads at most the cap into memory. */
export async function readCapped(path: string, maxBytes: number): Promise<ReadFile> {
  try {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size > maxBytes) return { ok: false, fault: `${size} bytes, more than the ${maxBytes} allowed` };
      return { ok: true, bytes: await file.readFile() };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { ok: false, fault: `cannot be read (${error instanceof Error ? error.message : String(error)})` };
  }
}
