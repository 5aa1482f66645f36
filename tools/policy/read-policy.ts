import { readCapped } from '@svc/kernel-client';
import { mergeBundles, parsePolicy, type BundleRecord, type Policy } from '@svc/policy';
import { printProblem, type OverrideMode } from '@svc/contract';
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { Unusable } from './options';

const maxBytes = 2 * 1_024 * 1_024;

/**
 * Reads the policy of a file and a folder of bundles, with the validation of a write.
 *
 * @throws Unusable with every error and its line
 */
export async function readPolicy(
  file: string,
  bundlesDir: string | undefined,
  overrides?: OverrideMode,
): Promise<Policy> {
  const bundles = new Map<string, string>();
  for (const path of bundlesDir === undefined ? [] : yamlFiles(bundlesDir)) {
    bundles.set(toBundleId(relative(bundlesDir ?? '', path)), await readText(path));
  }
  const parsed = [[file, await readText(file)] as const, ...bundles].map(([source, text]) =>
    parsePolicy(text, { source, mode: 'write' }),
  );
  const problems = parsed.flatMap((one) => (one.ok ? [] : one.problems.map(printProblem)));
  const [base] = parsed;
  if (problems.length > 0 || !base?.ok) throw new Unusable(problems);
  const records = [...bundles].map(([id, content]): [string, BundleRecord] => [id, { content, enabled: true }]);
  const merged = mergeBundles({ base: [base.document], bundles: new Map(records), ...(overrides && { overrides }) });
  if (!merged.ok) throw new Unusable(merged.problems.map(printProblem));
  return merged.policy;
}

/** @throws Unusable */
export async function readText(path: string): Promise<string> {
  const read = await readCapped(path, maxBytes);
  if (!read.ok) throw new Unusable([`${path}: ${read.fault}`]);
  return read.bytes.toString('utf8');
}

function yamlFiles(dir: string): string[] {
  try {
    const found = readdirSync(dir, { recursive: true, encoding: 'utf8' });
    return found.filter((name) => /\.ya?ml$/.test(name)).map((name) => join(dir, name));
  } catch (error) {
    throw new Unusable([`${dir}: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

const toBundleId = (path: string): string =>
  path
    .split(sep)
    .join('/')
    .replace(/\.ya?ml$/, '');
