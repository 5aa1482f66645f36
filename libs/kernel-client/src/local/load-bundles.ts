import { bundleSignatureFault, readBundles, type BundleRecord, type TrustedKeys } from '@svc/policy';
import { StartError } from '@svc/runtime';
import { ConfigRepository, type ConfigDocument } from '@svc/store';
import type { Redis } from 'ioredis';
import { readPublicKey } from './signature';

/** Where bundles come from, and whose are taken. Policy contract 4.4; operations contract 1.7. */
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
  | { ok: true; bundles: ReadonlyMap<string, BundleRecord>; revision: number; unsigned: readonly string[] }
  /** `unread`: the store did not answer, so that nothing is known of how they are now. */
  | { ok: false; problems: string[]; unread?: true };

/** Reads the bundles of the config document, and tells cheaply whether they changed. Policy contract 4.1, 4.4. */
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
    const document = await this.document();
    const { bundles, faults } = readBundles({ bundles: document?.data[key] });
    const unreadable = faults.map((bundle) => `bundle ${bundle}: is no record with a text in content`);
    const unsigned = strict === 'off' ? [] : [...bundles].flatMap(([name, bundle]) => this.faultOf(name, bundle));
    const problems = [...unreadable, ...(strict === 'enforce' ? unsigned : [])];
    return problems.length > 0
      ? { ok: false, problems }
      : { ok: true, bundles, revision: document?.revision ?? 0, unsigned };
  }

  /** Of the document, as it was last replaced; 0 when it never was. One small read. */
  async revision(): Promise<number> {
    const { disabled, scope, id } = this.settings;
    return disabled ? 0 : this.config.revision(scope, id);
  }

  /** Of the document as it stands, whoever wrote it. */
  async storedRevision(): Promise<number> {
    return (await this.document())?.revision ?? 0;
  }

  private async document(): Promise<ConfigDocument | undefined> {
    const { disabled, scope, id } = this.settings;
    if (disabled) return undefined;
    const [document] = await this.config.documents([[scope, id]]);
    return document ?? undefined;
  }

  /** A draft decides nothing, so nobody has to have signed it. */
  private faultOf(name: string, bundle: BundleRecord): string[] {
    const fault = bundle.enabled ? bundleSignatureFault(bundle, this.trusted) : undefined;
    return fault ? [`bundle ${name}: ${fault}`] : [];
  }
}

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
