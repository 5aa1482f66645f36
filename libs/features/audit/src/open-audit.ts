import type { SealedEvent, SignedCheckpoint } from '@svc/audit-chain';
import { getCategory, type AuditAct } from '@svc/contract';
import type { License } from '@svc/identity';
import { readSigningKey } from '@svc/policy';
import type { Loop } from '@svc/platform';
import { type ApiEnv, type auditMetrics, type Boot, type Handles, StartError } from '@svc/runtime';
import { keys, type Store } from '@svc/store';
import { auditedBy } from './audited';
import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readAnchorFile, writeAnchorFile } from './chain/anchor-file';
import { takeCheckpoint, witnessReader, type CheckpointDeps } from './chain/checkpoints';
import { Sealer } from './chain/sealer';
import type { VerifyDeps } from './chain/verify-chain';
import { RefusedCredentials } from './sign-ins/refused-credentials';

type AuditEnv = Pick<
  ApiEnv,
  | 'auditHmacKey'
  | 'auditSigningKey'
  | 'auditSigningKeyPath'
  | 'auditPublicKeys'
  | 'auditAnchorFile'
  | 'auditAnchorIntervalMs'
  | 'auditChainFail'
  | 'auditRetention'
  | 'defaultTenant'
>;

/** The audit chains of a process. */
export interface Audit {
  sealer: Sealer;
  verification: Omit<VerifyDeps, 'store' | 'sealer'>;
  /** PEM; '' when checkpoints are not signed. */
  publicKey: string;
  /** Signs evidence bundles; undefined without a signing key. */
  signing: { key: KeyObject; publicKeys: readonly KeyObject[] } | undefined;
  /** Seals what was recorded, and takes a checkpoint if they are signed. */
  checkpointNow(tenant: string): Promise<void>;
  /** For `MountOptions`. */
  audited<T>(tenant: string, act: AuditAct, request: () => Promise<T>): Promise<T>;
  /** Records refused credentials in the chain of the default tenant. */
  refusals: RefusedCredentials;
  /** Seals and takes checkpoints on one replica. */
  loops(owner: string): Loop[];
}

export interface AuditParts {
  store: Pick<Store, 'audit' | 'lease'>;
  license: Pick<License, 'entitlements'>;
  metrics: Handles<typeof auditMetrics>;
}

const SEAL_EVERY_MS = 200;
const LEASE_MS = 5_000;

/**
 * Opens the audit chains.
 *
 * @throws StartError when the signing key cannot be used
 */
export async function openAudit(
  { env, clock, log, onStop }: Pick<Boot<AuditEnv>, 'env' | 'clock' | 'log' | 'onStop'>,
  { store, license, metrics }: AuditParts,
): Promise<Audit> {
  const hmacKey = env.auditHmacKey === undefined ? undefined : createSecretKey(Buffer.from(env.auditHmacKey));
  const signingKey = readAuditKey(env);
  const publicKeys = [...(signingKey ? [createPublicKey(signingKey)] : []), ...earlierKeys(env)];
  const { auditAnchorFile: anchorFile } = env;
  const sealer = new Sealer(store.audit, {
    hmacKey,
    onSealed: (_tenant, events) => countEvents(metrics, events),
    onUnreadable: (error) => {
      metrics.auditFailures.inc({ reason: 'unreadable' });
      log.error('an entry of the audit outbox cannot be read; it was kept as text', { error });
    },
  });
  const checkpoint = async (tenant: string): Promise<SignedCheckpoint | undefined> => {
    if (!signingKey) return undefined;
    const deps: CheckpointDeps = { store, clock, signingKey, installation: await store.audit.installation() };
    return takeCheckpoint(deps, tenant);
  };
  const anchor = async (taken: SignedCheckpoint): Promise<void> => {
    if (anchorFile !== undefined) await writeAnchorFile(anchorFile, taken);
  };
  const refusals = new RefusedCredentials({
    record: (act) => store.audit.record(env.defaultTenant, act),
    nowMs: () => clock.nowMs(),
    onUnrecorded: (error) => {
      metrics.auditFailures.inc({ reason: 'unrecorded' });
      log.oncePer('refusals', 10_000).error('refused credentials were not recorded in the audit chain', { error });
    },
  });
  onStop('refused credentials', () => refusals.flush());
  return {
    refusals,
    sealer,
    verification: {
      hmacKey,
      witnesses: witnessReader(
        { store, anchors: async (tenant) => (anchorFile === undefined ? [] : readAnchorFile(anchorFile, tenant)) },
        publicKeys,
      ),
      retentionHours: () => retentionHours(env, license),
    },
    publicKey: signingKey ? createPublicKey(signingKey).export({ type: 'spki', format: 'pem' }).toString() : '',
    signing: signingKey && { key: signingKey, publicKeys },
    checkpointNow: async (tenant) => {
      await sealer.seal();
      await checkpoint(tenant);
    },
    audited: auditedBy({ env, log, store, metrics }),
    loops: (owner) => [
      {
        name: 'audit-sealer',
        everyMs: SEAL_EVERY_MS,
        lease: store.lease(keys.auditSealerLease(), owner, LEASE_MS),
        run: async () => {
          await sealer.seal();
          metrics.auditOutbox.set(await store.audit.outboxLength());
        },
      },
      {
        name: 'audit-checkpoints',
        everyMs: env.auditAnchorIntervalMs,
        lease: store.lease(keys.auditCheckpointLease(), owner, 2 * env.auditAnchorIntervalMs),
        run: async () => {
          for (const tenant of await store.audit.tenants()) {
            const taken = await checkpoint(tenant);
            if (taken) await anchor(taken);
          }
        },
      },
    ],
  };
}

/** Hours for which events are kept; undefined = for ever. */
function retentionHours({ auditRetention }: AuditEnv, license: Pick<License, 'entitlements'>): number | undefined {
  if (auditRetention !== undefined) return auditRetention;
  const { audit_retention_days: days } = license.entitlements();
  return days < 0 ? undefined : days * 24;
}

function countEvents({ auditEvents }: Handles<typeof auditMetrics>, events: readonly SealedEvent[]): void {
  const counts = { routine: 0, governance: 0 };
  for (const { text } of events) counts[getCategory(readType(text))] += 1;
  for (const [category, count] of Object.entries(counts)) if (count > 0) auditEvents.inc({ category }, count);
}

const readType = (text: string): string => {
  const at = text.indexOf('"event_type":"') + 14;
  return text.slice(at, text.indexOf('"', at));
};

/** @throws StartError */
function readAuditKey({ auditSigningKey: text, auditSigningKeyPath: path }: AuditEnv): KeyObject | undefined {
  if (text === undefined && path === undefined) return undefined;
  const name = text === undefined ? `SVC_AUDIT_SIGNING_KEY_PATH (${path ?? ''})` : 'SVC_AUDIT_SIGNING_KEY';
  const key = readSigningKey(text ?? readKey(path ?? '', name));
  if (key) return key;
  throw new StartError('checkpoints of the audit chain cannot be signed', name, 'Give it a private Ed25519 key.');
}

function readKey(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `checkpoints of the audit chain cannot be signed: ${why}`,
      name,
      'Name a file that can be read.',
    );
  }
}

/** @throws StartError */
function earlierKeys({ auditPublicKeys }: AuditEnv): KeyObject[] {
  return Object.entries(auditPublicKeys).map(([id, text]) => {
    try {
      return createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    } catch {
      const fix = 'Give it a public Ed25519 key: SPKI (DER) in base64.';
      throw new StartError('checkpoints of the audit chain cannot be verified', `SVC_AUDIT_PUBLIC_KEY_${id}`, fix);
    }
  });
}
