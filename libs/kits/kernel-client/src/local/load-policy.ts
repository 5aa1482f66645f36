import { mergeBundles, parsePolicy, type Policy, type PolicyDocument } from '@svc/policy';
import { open } from 'node:fs/promises';
import { problemText } from '../events';
import { fetchPolicy, splitUserinfo, type PolicyUrl, type ReadFile } from './fetch-policy';
import type { BundleSource, LoadedBundles } from './load-bundles';
import { signatureFault, type SignatureSettings } from './signature';

/** Where the document comes from that the bundles are merged into. */
export interface BaseSource {
  path: string;
  /** Wins over the path. */
  url?: PolicyUrl | undefined;
  maxBytes: number;
  signature: SignatureSettings;
}

export interface PolicySource {
  /** Reads the document that the bundles are merged into. */
  base(): Promise<LoadedBase>;
  bundles: Pick<BundleSource, 'load'>;
  /** How many velocity rules the license allows; undefined or negative: any number. */
  maxVelocityRules?: (() => number) | undefined;
}

export type LoadedBase = { ok: true; document: PolicyDocument } | { ok: false; problems: string[] };

export type LoadedPolicy =
  | {
      ok: true;
      policy: Policy;
      /** Of the config documents that it was read from. */
      revisions: string;
      /** Bundles that are taken though their signature is not good. */
      unsigned: readonly string[];
    }
  | {
      ok: false;
      problems: string[];
      /** For want of the store: the same load may succeed the next time. */
      isUnread: boolean;
    };

/** Reads, checks and merges the policy. All that is wrong with it is in the answer. */
export async function loadPolicy(source: PolicySource): Promise<LoadedPolicy> {
  const [base, bundles] = await Promise.all([source.base(), readBundlesOf(source)]);
  const isUnread = !bundles.ok && bundles.unread === true;
  if (!base.ok || !bundles.ok) return { ok: false, isUnread, problems: [base, bundles].flatMap(problemsOf) };
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

/** A store that does not answer is a fault like others: what is in force stays. */
async function readBundlesOf({ bundles }: PolicySource): Promise<LoadedBundles> {
  try {
    return await bundles.load();
  } catch (error) {
    return {
      ok: false,
      unread: true,
      problems: [`the bundles cannot be read (${error instanceof Error ? error.message : String(error)})`],
    };
  }
}

const problemsOf = (loaded: LoadedBase | LoadedBundles): string[] => (loaded.ok ? [] : loaded.problems);

/** The name of the policy in problems: its path, or its URL without credentials. */
export const policyName = ({ path, url }: Pick<BaseSource, 'path' | 'url'>): string =>
  url ? splitUserinfo(url.url).url : path;

/** Never holds more than the cap in memory, however large the file is. */
export async function readCapped(path: string, maxBytes: number): Promise<ReadFile> {
  try {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size > maxBytes) return { ok: false, fault: `${size} bytes, more than the ${maxBytes} that are taken` };
      return { ok: true, bytes: await file.readFile() };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { ok: false, fault: `cannot be read (${error instanceof Error ? error.message : String(error)})` };
  }
}
