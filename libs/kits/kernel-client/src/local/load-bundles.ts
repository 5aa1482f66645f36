import type { OverrideMode } from '@svc/contract';
import { bundleSignatureFault, overrideModeOf, readBundles, type BundleRecord, type TrustedKeys } from '@svc/policy';
import { StartError } from '@svc/runtime';
import { ConfigRepository, type ConfigDocument } from '@svc/store';
import type { Redis } from 'ioredis';
import { readPublicKey } from './signature';

/** Where bundles come from, and whose are taken. See docs/reference/policy.md#bundles. */
export interface BundleSettings {
  /** Leaves them out: the file alone is the policy. */
  disabled: boolean;
  scope: string;
  id: string;
  /** Field of the document that holds them. */
  key: string;
  strict: 'off' | 'warn' | 'enforce';
  /** Ed25519 keys, base64 or hex, by their ids. */
  publicKeys: Readonly<Record<string, string>>;
}

export type LoadedBundles =
  /** `unsigned`: what is wrong with signatures of bundles that are taken all the same. */
  | {
      ok: true;
      bundles: ReadonlyMap<string, BundleRecord>;
      overrides: OverrideMode;
      /** Of the documents that were read. */
      revisions: string;
      unsigned: readonly string[];
    }
  /** `unread`: the store did not answer, so that nothing is known of how they are now. */
  | { ok: false; problems: string[]; unread?: true };

/** The document of the installation's settings, among them how far workflow overrides go. */
const installation = ['system', 'default'] as const;

/**
 * Reads the bundles of the config document and the settings of the installation that concern them, and detects cheaply
 * whether either document changed. See docs/reference/policy.md#evaluation.
 */
export class BundleSource {
  private readonly config: ConfigRepository;
  private readonly trusted: TrustedKeys;

  /** @throws StartError for a key that is none, and for signatures that are demanded with no key to check them */
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
    const unreadable = faults.map((bundle) => `bundle ${bundle}: is no record with a text in content`);
    const unsigned = strict === 'off' ? [] : [...bundles].flatMap(([name, bundle]) => this.faultOf(name, bundle));
    const problems = [...unreadable, ...(strict === 'enforce' ? unsigned : [])];
    return problems.length > 0
      ? { ok: false, problems }
      : {
          ok: true,
          bundles,
          overrides: overrideModeOf(settings?.data),
          revisions: revisionsOf([document, settings]),
          unsigned,
        };
  }

  /** Of the documents as they were last replaced; 0 for one that never was. Two small reads. */
  async revisions(): Promise<string> {
    if (this.settings.disabled) return '';
    return (await Promise.all(this.places().map(([scope, id]) => this.config.revision(scope, id)))).join();
  }

  /** Of the documents as they are stored, including writes by others that did not record a revision. */
  async storedRevisions(): Promise<string> {
    return revisionsOf(await this.documents());
  }

  private async documents(): Promise<(ConfigDocument | null)[]> {
    return this.settings.disabled ? [] : this.config.documents(this.places());
  }

  private places() {
    const { scope, id } = this.settings;
    return [[scope, id] as const, installation];
  }

  /** A draft decides nothing, so nobody has to have signed it. */
  private faultOf(name: string, bundle: BundleRecord): string[] {
    const fault = bundle.enabled ? bundleSignatureFault(bundle, this.trusted) : undefined;
    return fault ? [`bundle ${name}: ${fault}`] : [];
  }
}

const revisionsOf = (documents: readonly (ConfigDocument | null | undefined)[]): string =>
  documents.map((document) => document?.revision ?? 0).join();

function trustedKeys({ publicKeys, strict, disabled }: BundleSettings): TrustedKeys {
  const keys = Object.entries(publicKeys).map(([id, text]) => {
    const name = `SVC_POLICY_PUBLIC_KEY_${id}`;
    const key = readPublicKey(text);
    if (!key) throw new StartError('bundles cannot be checked', name, 'Give it an Ed25519 key in base64 or hex.');
    return [id.toUpperCase(), key] as const;
  });
  if (strict === 'enforce' && !disabled && keys.length === 0) {
    const mend =
      'Set SVC_POLICY_PUBLIC_KEY_<ID> to the key that bundles are signed with, or SAFETY_POLICY_CONFIG_DISABLE=true to run without bundles.';
    throw new StartError('bundles must be signed, and no key is trusted', 'SVC_POLICY_STRICT', mend);
  }
  return new Map(keys);
}
