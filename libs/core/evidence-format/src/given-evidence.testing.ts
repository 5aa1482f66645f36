import {
  consistencyProof,
  emptyHead,
  inclusionProof,
  leafHash,
  nodeHash,
  sealFacts,
  signCheckpoint,
  treeRoot,
  type ReadSubtree,
  type SealedEvent,
  type SignedCheckpoint,
} from '@svc/audit-chain';
import type { AuditFact } from '@svc/contract';
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { frameGzip, packMembers } from './archive';
import { memberNames, type EvidenceManifest } from './format';
import { describeMember, signManifest, type Member } from './manifest';

export interface GivenEvidence {
  /** In the order of the archive, the manifest first. */
  members: Member[];
  archive: Buffer;
  signingKey: KeyObject;
  publicKey: KeyObject;
  /** Of events 4, 8 and the last one. */
  checkpoints: SignedCheckpoint[];
  /** The tree of the chain. */
  tree: ReadSubtree;
  /** All events of the chain; every second one is about the job. */
  chain: SealedEvent[];
}

export interface EvidenceOptions {
  events?: number;
  tenant?: string;
  signingKey?: KeyObject;
  content?: string;
}

const fact = (tenant: string, i: number): AuditFact => ({
  tenant_id: tenant,
  timestamp: `2026-11-23T08:00:${String(i).padStart(2, '0')}.000000Z`,
  event_type: 'job.transition',
  action: `job.step${i}`,
  severity: 'INFO',
  job_id: i % 2 === 0 ? 'job-1' : 'job-2',
  reason: `reason ${i}`,
});

const toHex = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('hex'));
const json = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`);

/** A bundle about a job in a chain that was never stored. */
export async function givenEvidence({
  events: count = 12,
  tenant = 'acme',
  signingKey = generateKeyPairSync('ed25519').privateKey,
  content,
}: EvidenceOptions = {}): Promise<GivenEvidence> {
  const chain = sealFacts(
    Array.from({ length: count }, (_, i) => fact(tenant, i + 1)),
    emptyHead,
  );
  const tree = buildTree(chain);
  const checkpoints = await Promise.all(
    [4, 8, count].map(async (seq) =>
      signCheckpoint(
        {
          installation: 'installation-1',
          tenant_id: tenant,
          seq,
          event_hash: chain[seq - 1]?.hash ?? '',
          merkle_root: (await treeRoot(tree, seq)).toString('hex'),
          at: `2026-11-23T09:00:${String(seq).padStart(2, '0')}.000Z`,
        },
        signingKey,
      ),
    ),
  );
  const about = chain.filter(({ seq }) => seq % 2 === 0 && seq <= 8);
  const lines = about.map(async ({ seq, hash, text }) =>
    JSON.stringify({ seq, hash, text, path: toHex(await inclusionProof(tree, seq - 1, 8)) }),
  );
  const data = content === undefined ? [] : [describeContent(content)];
  const members: Member[] = [
    { path: memberNames.readme, body: Buffer.from('read me\n') },
    { path: memberNames.events, body: Buffer.from(`${(await Promise.all(lines)).join('\n')}\n`) },
    {
      path: memberNames.checkpoints,
      body: json({
        covering: checkpoints[1],
        newest: checkpoints[2],
        consistency: toHex(await consistencyProof(tree, 8, count)),
      }),
    },
    { path: memberNames.verification, body: json({ status: 'ok', gaps: [] }) },
    { path: memberNames.data, body: json(data) },
    ...(content === undefined ? [] : [{ path: 'content/1', body: Buffer.from(content) }]),
  ];
  const signed = signMembers(members, signingKey, { tenant_id: tenant, includes_content: content !== undefined });
  return {
    members: signed,
    archive: await packBundle(signed),
    signingKey,
    publicKey: createPublicKey(signingKey),
    checkpoints,
    tree,
    chain,
  };
}

const describeContent = (content: string) => {
  const { sha256, bytes } = describeMember({ path: '', body: Buffer.from(content) });
  return { job_id: 'job-1', role: 'input', pointer: 'redis://ctx:job-1', sha256, bytes, content: 'content/1' };
};

/** Puts a new manifest before members. */
export function signMembers(
  members: readonly Member[],
  key: KeyObject,
  more: Partial<EvidenceManifest> = {},
): Member[] {
  const body = signManifest(
    {
      installation: 'installation-1',
      tenant_id: 'acme',
      subject: { kind: 'job', id: 'job-1' },
      created_at: '2026-11-23T10:00:00.000Z',
      requested_by: { identity: 'ann', role: 'admin', request_id: 'r-1' },
      window: { from: '', to: '', first_seq: 1, last_seq: 8, searched: 8 },
      events: 4,
      includes_content: false,
      members: members.map(describeMember),
      ...more,
    },
    key,
    [createPublicKey(key)],
  );
  return [{ path: memberNames.manifest, body }, ...members];
}

export const packBundle = async (members: readonly Member[]): Promise<Buffer> =>
  frameGzip(gzipSync(await packMembers(members)));

const buildTree =
  (chain: readonly SealedEvent[]): ReadSubtree =>
  (start, size) => {
    let level = chain.slice(start, start + size).map(({ hash }) => leafHash(hash));
    while (level.length > 1)
      level = level.flatMap((left, i) => (i % 2 === 0 ? [nodeHash(left, level[i + 1] ?? Buffer.alloc(0))] : []));
    return Promise.resolve(level[0] ?? Buffer.alloc(0));
  };
