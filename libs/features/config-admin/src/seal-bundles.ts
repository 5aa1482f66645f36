import { printProblem, type Problem } from '@svc/contract';
import { isRecord } from '@svc/json';
import { bundleSignatureFault, contentHash, prepareBundle, signBundle, type BundleRecord } from '@svc/policy';
import { type PolicyWriteDeps, getSigningKey } from '@svc/policy-admin';
import type { DataFault } from './check-data';

/** Dependencies of a write of policy bundles. See docs/reference/policy.md#bundles. */
export type SealDeps = Pick<PolicyWriteDeps, 'signing' | 'maxContentBytes' | 'maxBundles'>;

type Data = Readonly<Record<string, unknown>>;
export type SealedData = { ok: true; data: Data } | { ok: false; faults: DataFault[] };

/**
 * Validates and signs the bundles of a write: each must be one that a PUT of the bundle would accept, and is signed in the
 * same way. A bundle that was read here earlier and still has a valid signature is stored unchanged.
 *
 * @throws policy_signing_required
 */
export function sealBundles(deps: SealDeps, data: Data): SealedData {
  const { bundles } = data;
  if (!Object.hasOwn(data, 'bundles') || bundles === null) return { ok: true, data };
  if (!isRecord(bundles))
    return { ok: false, faults: [{ path: 'bundles', message: 'must be a map of bundle ids to records' }] };
  const sealed = Object.entries(bundles).map(([id, bundle]) => [id, sealBundle(deps, id, bundle)] as const);
  const faults = sealed.flatMap(([, one]) => (one.ok ? [] : one.faults));
  if (faults.length > 0) return { ok: false, faults };
  const records = sealed.flatMap(([id, one]) => (one.ok ? [[id, one.record]] : []));
  return { ok: true, data: { ...data, bundles: Object.fromEntries(records) as Data } };
}

type SealedBundle = { ok: true; record: Data } | { ok: false; faults: DataFault[] };

function sealBundle(deps: SealDeps, id: string, bundle: unknown): SealedBundle {
  const path = `bundles.${id}`;
  if (!isBundle(bundle)) return { ok: false, faults: [{ path, message: 'must be a record with a text `content`' }] };
  const { maxContentBytes, signing } = deps;
  const prepared = prepareBundle(bundle.content, id);
  if (!prepared.ok) return { ok: false, faults: prepared.problems.map((problem) => contentFault(path, problem)) };
  const isGood = bundleSignatureFault(bundle, signing.trusted) === undefined;
  const content = isGood ? bundle.content : prepared.content;
  if (Buffer.byteLength(content) > maxContentBytes) {
    return { ok: false, faults: [{ path: `${path}.content`, message: `must be at most ${maxContentBytes} bytes` }] };
  }
  if (isGood) return { ok: true, record: { ...bundle, sha256: contentHash(content) } };
  const key = getSigningKey(deps);
  const { _signature, ...rest } = bundle;
  const seal = { sha256: contentHash(content), ...(key && { _signature: signBundle(content, key) }) };
  return { ok: true, record: { ...rest, content, ...seal } };
}

const contentFault = (path: string, problem: Problem): DataFault => ({
  path: `${path}.content`,
  message: printProblem(problem),
  line: problem.line,
  column: problem.column,
});

const isBundle = (value: unknown): value is Data & BundleRecord =>
  isRecord(value) && typeof value['content'] === 'string';
