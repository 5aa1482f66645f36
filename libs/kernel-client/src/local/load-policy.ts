import { mergePolicies, parsePolicy, type Policy } from '@svc/policy';
import { open } from 'node:fs/promises';
import { problemText } from '../events';
import { fetchPolicy, type PolicyUrl } from './fetch-policy';
import { signatureFault, type SignatureSettings } from './signature';

export interface PolicySource {
  path: string;
  /** Wins over the path. */
  url?: PolicyUrl | undefined;
  maxBytes: number;
  signature: SignatureSettings;
  /** How many velocity rules the license allows; undefined or negative: any number. */
  maxVelocityRules?: (() => number) | undefined;
}

export type LoadedPolicy = { ok: true; policy: Policy } | { ok: false; problems: string[] };

/** Reads, checks and merges the policy. All that is wrong with it is in the answer. Policy contract 4. */
export async function loadPolicy(source: PolicySource): Promise<LoadedPolicy> {
  const { path, url, maxBytes, signature, maxVelocityRules } = source;
  const name = policyName(source);
  const read = await (url ? fetchPolicy(url, maxBytes) : readCapped(path, maxBytes));
  if (!read.ok) return { ok: false, problems: [`${name}: ${read.fault}`] };
  const fault = await signatureFault(read.bytes, url ? undefined : `${path}.sig`, signature);
  if (fault) return { ok: false, problems: [`${name}: ${fault}`] };

  const parsed = parsePolicy(read.bytes.toString('utf8'), { source: name, mode: 'load' });
  if (!parsed.ok) return { ok: false, problems: parsed.problems.map(problemText) };
  const max = maxVelocityRules?.();
  return { ok: true, policy: mergePolicies([parsed.document], max === undefined ? {} : { maxVelocityRules: max }) };
}

/** What the policy is called in problems. */
export const policyName = ({ path, url }: PolicySource): string => url?.url ?? path;

export type ReadFile = { ok: true; bytes: Buffer } | { ok: false; fault: string };

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
