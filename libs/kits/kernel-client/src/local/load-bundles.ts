import type { OverrideMode } from '@svc/contract';
import { bundleSignatureFault, getOverrideMode, readBundles, type BundleRecord, type TrustedKeys } from '@svc/policy';
import { StartError } from '@svc/runtime';
import { ConfigRepository, type ConfigDocument } from '@svc/store';
import type { Redis } from 'ioredis';
import { readPublicKey } from './signature';

/** Source and trusted keys of bundles. See docs/reference/policy.md#bundles. */
export interface BundleSettings {
  /** Ignores bundles: the file alone is the policy. */
  disabled: boolean;
  scope: string;
  id: string;
  /** Field of the document that contains the bundles. */
  key: string;
  strict: 'off' | 'warn' | 'enforce';
  /** Ed25519 keys, base64 or hex, by their ids. */
  publicKeys: Readonly<Record<string, string>>;
}

export type LoadedBundles =
  /** `unsigned`: signature problems of bundles that are loaded anyway. */
  | {
      ok: true;
      bundles: ReadonlyMap<string, BundleRecord>;
      overrides: OverrideMode;
      /** Revisions of the documents. */
      revisions: string;
      unsigned: readonly string[];
    }
  /** `unread`: Redis was unavailable, so their current content is unknown. */
  | { ok: false; problems: string[]; unread?: true };

/** Document of the installation's settings, which include the mode of workflow overrides. */
const installation = ['system', 'default'] as const;

/**
 * Reads the bundles of the config document and the settings of the installation that concern them, and detects cheaply
 * whether either document changed. See docs/reference/policy.md#evaluation.
 */
export class BundleSource {
  private readonly config: ConfigRepository;
  private readonly trusted: TrustedKeys;

  /** @throws StartError for an invalid key, and for required signatures without a key */
  constructor(
    redis: Redis,
    private readonly settings: BundleSettings,
  ) {
    this.config = new ConfigRepository(redis);
    this.trusted = trustedKeys(settings);
  }

  async load(): Promise<LoadedBundles> {
    const { key, strict } = this.settings;
    const [document, settings] = await this.documents();
    const { bundles, faults } = readBundles({ bundles: document?.data[key] });
    const unreadable = faults.map((bundle) => `bundle ${bundle}: is not a record with a text in content`);
    const unsigned =
      strict === 'off' ? [] : [...bundles].flatMap(([name, bundle]) => this.checkBundleSignature(name, bundle));
    const problems = [...unreadable, ...(strict === 'enforce' ? unsigned : [])];
    return problems.length > 0
      ? { ok: false, problems }
      : {
          ok: true,
          bundles,
          overrides: getOverrideMode(settings?.data),
          revisions: toRevisions([document, settings]),
          unsigned,
        };
  }

  /** Recorded revisions of the documents; 0 for one that was never written. Two small reads. */
  async revisions(): Promise<string> {
    if (this.settings.disabled) return '';
    return (await Promise.all(this.places().map(([scope, id]) => this.config.revision(scope, id)))).join();
  }

  /** Revisions of the stored documents, including writes by other programs that recorded none. */
  async storedRevisions(): Promise<string> {
    return toRevisions(await this.documents());
  }

  private async documents(): Promise<(ConfigDocument | null)[]> {
    return this.settings.disabled ? [] : this.config.documents(this.places());
  }

  private places() {
    const { scope, id } = this.settings;
    return [[scope, id] as const, installation];
  }

  /** A draft is not evaluated, so it needs no signature. */
  private checkBundleSignature(name: string, bundle: BundleRecord): string[] {
    const fault = bundle.enabled ? bundleSignatureFault(bundle, this.trusted) : undefined;
    return fault ? [`bundle ${name}: ${fault}`] : [];
  }
}

const toRevisions = (documents: readonly (ConfigDocument | null | undefined)[]): string =>
  documents.map((document) => document?.revision ?? 0).join();

function trustedKeys({ publicKeys, strict, disabled }: BundleSettings): TrustedKeys {
  const keys = Object.entries(publicKeys).map(([id, text]) => {
    const name = `SVC_POLICY_PUBLIC_KEY_${id}`;
    const key = readPublicKey(text);
    if (!key) throw new StartError('invalid bundle key', name, 'Set an Ed25519 public key in base64 or hex.');
    return [id.toUpperCase(), key] as const;
  });
  if (strict === 'enforce' && !disabled && keys.length === 0) {
    const fix =
      'Set SVC_POLICY_PUBLIC_KEY_<ID> to the key that bundles are signed with, or SAFETY_POLICY_CONFIG_DISABLE=true to run without bundles.';
    throw new StartError('bundles must be signed, but no public key is configured', 'SVC_POLICY_STRICT', fix);
  }
  return new Map(keys);
}
