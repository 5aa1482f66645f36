import { AppError } from '@svc/contract';
import { createOutboundClient } from '@svc/outbound';
import { StartError } from '@svc/runtime';
import { parseIdpMetadata, type IdpMetadata } from './idp-metadata';
import type { SamlSettings } from './settings';

interface SamlProviderDeps {
  nowMs(): number;
  onProblem(message: string, error: unknown): void;
  /** Time limit of a read of the metadata; absent = 10 s. */
  timeoutMs?: number;
}

const METADATA_TTL_MS = 3_600_000;
const RETRY_MS = 5_000;

/** One SAML identity provider: its metadata, from the environment or from its URL. */
export class SamlProvider {
  private found: { metadata: IdpMetadata; untilMs: number } | undefined;
  private reading: Promise<IdpMetadata> | undefined;
  private retryAtMs = -Infinity;

  /** @throws StartError when metadata in the environment is not valid */
  constructor(
    readonly settings: SamlSettings,
    private readonly deps: SamlProviderDeps,
  ) {
    const { metadataUrl, metadata } = settings;
    if (!metadataUrl) this.found = { metadata: parseGiven(metadata, settings), untilMs: Infinity };
  }

  /** Metadata of the provider. When they cannot be read again, the previous ones stay in effect. @throws upstream_service_error */
  async metadata(): Promise<IdpMetadata> {
    const { found, deps } = this;
    if (found && deps.nowMs() < found.untilMs) return found.metadata;
    if (!found && deps.nowMs() < this.retryAtMs) throw new AppError('upstream_service_error');
    this.reading ??= this.read().finally(() => (this.reading = undefined));
    try {
      return await this.reading;
    } catch (error) {
      deps.onProblem('metadata of the identity provider not read', error);
      this.retryAtMs = deps.nowMs() + RETRY_MS;
      if (!found) throw new AppError('upstream_service_error');
      this.found = { ...found, untilMs: this.retryAtMs };
      return found.metadata;
    }
  }

  private async read(): Promise<IdpMetadata> {
    const { metadataUrl, httpsOnly } = this.settings;
    const { timeoutMs } = this.deps;
    // The operator chose the host, which may be in a private network.
    const host = new URL(metadataUrl).hostname.replace(/^\[|\]$/g, '');
    const client = createOutboundClient({ onlyHosts: [host], allow: [host], httpsOnly });
    const response = await client.request(metadataUrl, { ...(timeoutMs !== undefined && { timeoutMs }) });
    if (response.status !== 200) throw new Error(`the provider answered ${response.status}`);
    const metadata = parseIdpMetadata(response.text(), this.settings);
    this.found = { metadata, untilMs: this.deps.nowMs() + METADATA_TTL_MS };
    return metadata;
  }
}

function parseGiven(metadata: string, settings: SamlSettings): IdpMetadata {
  try {
    return parseIdpMetadata(metadata, settings);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `SAML cannot be used: ${reason}`,
      'SVC_SAML_IDP_METADATA',
      'Set the metadata of the provider.',
    );
  }
}
