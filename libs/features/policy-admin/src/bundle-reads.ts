import {
  AppError,
  type BundleItem,
  type BundleRecordView,
  type BundleSource,
  type BundlesView,
  type BundleView,
  type Caller,
} from '@svc/contract';
import type { Store } from '@svc/store';
import { bundleFamily, contentHash, type BundleRecord } from '@svc/policy';
import { readVisibleBundles } from './bundles-document';
import type { ParsedBundleCache } from './parsed-bundle-cache';
import type { PolicyReadDeps } from './policy-deps';
import { shadowHeadView } from './shadow-head-view';

/** Every bundle that applies to the caller's tenant, by byte order of its id. See docs/reference/policy.md#bundles. */
export async function listBundles(
  deps: Pick<PolicyReadDeps, 'store' | 'parsed' | 'defaultTenant'>,
  caller: Caller,
): Promise<BundlesView> {
  const { bundles, updatedAt } = await readVisibleBundles(deps, caller);
  return {
    bundles: Object.fromEntries([...bundles].map(([id, record]) => [id, recordView(record)])),
    items: [...bundles].map(([id, record]) => toBundleItem(deps.parsed, id, record)),
    updated_at: updatedAt,
  };
}

/** One bundle, with the shadow policy of the caller's tenant for it. @throws bundle_not_found */
export async function getBundle(
  deps: Pick<PolicyReadDeps, 'defaultTenant'> & { store: PolicyReadDeps['store'] & Pick<Store, 'shadows'> },
  caller: Caller,
  id: string,
): Promise<BundleView> {
  const [{ bundles }, shadow] = await Promise.all([
    readVisibleBundles(deps, caller),
    deps.store.shadows.head(caller.tenant, id),
  ]);
  const record = bundles.get(id);
  if (!record) throw new AppError('bundle_not_found');
  return { id, ...recordView(record), ...(shadow && { shadow: shadowHeadView(shadow) }) };
}

/** The view of a stored bundle. Other writers may have stored it, so fields that are not text are left out. */
export function recordView(record: BundleRecord): BundleRecordView {
  const { content, _signature } = record;
  return { ...toBundleFacts(record), content, ...(_signature && { _signature }) };
}

const textFields = ['author', 'message', 'created_at', 'updated_at', 'version', 'installed_at'] as const;

function toBundleFacts(record: BundleRecord): Omit<BundleRecordView, 'content' | '_signature'> {
  const texts = textFields.filter((field) => typeof record[field] === 'string').map((field) => [field, record[field]]);
  return { enabled: record.enabled, sha256: contentHash(record.content), ...(Object.fromEntries(texts) as object) };
}

function toBundleItem(parsed: ParsedBundleCache, id: string, record: BundleRecord): BundleItem {
  return { id, ...toBundleFacts(record), source: getSource(id), rule_count: ruleCount(parsed, id, record) };
}

const sources = { operators: 'secops', pack: 'pack', velocity: 'core', override: 'core' } as const;
const getSource = (id: string): BundleSource => sources[bundleFamily(id)];

function ruleCount(parsed: ParsedBundleCache, id: string, { content }: BundleRecord): number {
  const read = parsed.parse(id, content);
  if (!read.ok) return 0;
  const { rules, input_rules, output_rules } = read.document;
  return rules.length + input_rules.length + output_rules.length;
}
