import { sha256 } from '@svc/audit-chain';
import { type Audit, chainTenant } from '@svc/audit';
import { AppError, type Caller, type EvidenceBody } from '@svc/contract';
import {
  describeMember,
  evidenceLimits,
  frameGzip,
  memberNames,
  packMembers,
  signManifest,
  type EvidenceEvent,
  type Member,
  type MemberName,
} from '@svc/evidence-format';
import { describeAct, type Store } from '@svc/store';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { readJobs } from './job-records';
import { proveEvents, type Proofs } from './prove-events';
import { DocumentReader } from './read-documents';
import { readPolicies } from './read-policies';
import { describeRun, readWorkflow } from './read-run';
import { readme } from './readme';
import { searchChain, type Found, type FoundEvent } from './search-chain';
import { findSubject, type Subject } from './subject';

export interface EvidenceDeps {
  store: Pick<Store, 'audit' | 'config' | 'data' | 'index' | 'jobs' | 'policy' | 'runs' | 'workflows'>;
  clock: { nowMs(): number };
  audit: Pick<Audit, 'checkpointNow' | 'signing' | 'verification'>;
  defaultTenant: string;
}

export interface Bundle {
  archive: Buffer;
  /** Number of audit events in it. */
  events: number;
  /** Of the archive, hex. */
  sha256: string;
  fileName: string;
}

/** Bundles that a process writes at the same time: each may need some 100 MiB. */
const MAX_AT_ONCE = 2;
let underWay = 0;

/**
 * Writes an evidence bundle. What the chain says is proved; records add what is still kept of jobs, runs and policies. A chain
 * that was changed gives a bundle, too: its verification names the place. See docs/reference/audit.md#evidence.
 *
 * @throws access_denied, tenant_access_denied, audit_signing_unavailable, audit_checkpoint_not_found,
 *   audit_from_invalid, audit_to_invalid, audit_range_invalid, evidence_subject_not_found, evidence_too_large, overloaded
 */
export async function createBundle(
  deps: EvidenceDeps,
  caller: Caller,
  requestId: string,
  body: EvidenceBody,
): Promise<Bundle> {
  // A custom role may export the audit without being allowed to read what jobs process.
  if (body.include_content && caller.role !== 'admin') throw new AppError('access_denied');
  const tenant = chainTenant(caller, body.tenant);
  if (underWay >= MAX_AT_ONCE) throw new AppError('overloaded', {}, { 'Retry-After': '5' });
  underWay += 1;
  try {
    return await writeBundle(deps, { caller, tenant, requestId, body });
  } finally {
    underWay -= 1;
  }
}

interface Request {
  caller: Caller;
  tenant: string;
  requestId: string;
  body: EvidenceBody;
}

async function writeBundle(deps: EvidenceDeps, request: Request): Promise<Bundle> {
  const { signing, checkpointNow, verification } = deps.audit;
  if (!signing) throw new AppError('audit_signing_unavailable');
  const { tenant, body } = request;
  // Before the newest checkpoint is read, so that every anchor of an earlier time is covered by it.
  const createdAt = new Date(deps.clock.nowMs()).toISOString();
  await checkpointNow(tenant);
  const subject = await findSubject(deps, tenant, body);
  const found = await searchChain({ store: deps.store, ...verification }, subject);
  if (found.events.length === 0) throw new AppError('evidence_subject_not_found');
  const seqs = found.events.map(({ seq }) => seq);
  const proofs = await proveEvents({ store: deps.store, publicKeys: signing.publicKeys }, tenant, seqs);
  const members = await readMembers(deps, request, { subject, found, proofs });
  const manifest = signManifest(
    {
      installation: proofs.checkpoints.newest.installation,
      tenant_id: tenant,
      subject: { kind: body.kind, id: body.id },
      created_at: createdAt,
      requested_by: {
        identity: request.caller.principalId || request.caller.submitterId,
        role: request.caller.role,
        request_id: request.requestId,
      },
      window: {
        from: toTime(subject.fromMs),
        to: toTime(subject.toMs),
        first_seq: found.firstSeq,
        last_seq: found.lastSeq,
        searched: found.searched,
      },
      events: found.events.length,
      includes_content: body.include_content,
      members: members.map(describeMember),
    },
    signing.key,
    signing.publicKeys,
  );
  const archive = await zip([{ path: memberNames.manifest, body: manifest }, ...members]);
  const digest = sha256(archive);
  describeAct(
    {},
    {
      resource_type: body.kind,
      resource_id: body.id,
      events: String(found.events.length),
      archive_sha256: digest,
      includes_content: String(body.include_content),
      ...(tenant !== request.caller.tenant && { chain_tenant: tenant }),
    },
  );
  return { archive, events: found.events.length, sha256: digest, fileName: toFileName(body, createdAt) };
}

interface Evidence {
  subject: Subject;
  found: Found;
  proofs: Proofs;
}

async function readMembers(
  deps: EvidenceDeps,
  { caller, tenant, body }: Request,
  { subject, found, proofs }: Evidence,
): Promise<Member[]> {
  const { store } = deps;
  const documents = new DocumentReader(store, body.include_content);
  const jobs = await readJobs(store, tenant, listJobs(subject, found.events));
  for (const job of jobs.jobs) await documents.addJob(job);
  const policies = await readPolicies(deps, caller, found.events, documents);
  const workflow = subject.run && (await readWorkflow(store, subject.run));
  const { kind, id, run } = subject;
  const record = { kind, id, ...(run && { run: describeRun(run) }), jobs: jobs.records, missing_jobs: jobs.missing };
  const member = (name: MemberName, value: unknown): Member => ({
    path: memberNames[name],
    body: Buffer.from(`${JSON.stringify(value, undefined, 1)}\n`),
  });
  return [
    { path: memberNames.readme, body: Buffer.from(readme) },
    { path: memberNames.events, body: Buffer.from(found.events.map((event) => toLine(event, proofs)).join('')) },
    member('checkpoints', proofs.checkpoints),
    member('verification', found.verification),
    member('record', record),
    member('decisions', jobs.decisions),
    member('approvals', jobs.approvals),
    member('data', documents.entries),
    member('policies', policies),
    ...(workflow ? [member('workflow', workflow)] : []),
    ...documents.contents,
  ];
}

/** The jobs that the events name, the subject first. */
function listJobs({ kind, id }: Subject, events: readonly FoundEvent[]): string[] {
  const ids = new Set<string>(kind === 'job' ? [id] : []);
  for (const { fields } of events) if (typeof fields['job_id'] === 'string') ids.add(fields['job_id']);
  return [...ids];
}

const secretName = /secret|token|password|api[_-]?key|private[_-]?key/i;

/** Text of events whose `extra` has a key that names a secret is withheld: the reads of events leave such keys out, too. */
function toLine({ seq, text, hash, hmac, fields }: FoundEvent, { paths }: Proofs): string {
  const isWithheld = Object.keys(fields['extra'] ?? {}).some((key) => secretName.test(key));
  const path = paths.get(seq);
  const line: EvidenceEvent = { seq, hash, ...(hmac && { hmac }), ...(!isWithheld && { text }), ...(path && { path }) };
  return `${JSON.stringify(line)}\n`;
}

const zipAsync = promisify(gzip);

/** @throws evidence_too_large */
async function zip(members: readonly Member[]): Promise<Buffer> {
  const bytes = members.reduce((sum, { body }) => sum + body.length, 0);
  if (bytes > evidenceLimits.bytes || members.length > evidenceLimits.members)
    throw new AppError('evidence_too_large', { limit_bytes: evidenceLimits.bytes });
  return frameGzip(await zipAsync(await packMembers(members)));
}

const toTime = (ms: number | undefined): string => (ms === undefined ? '' : new Date(ms).toISOString());

/** The id may have any character, so only harmless ones are used. */
const toFileName = ({ kind, id }: EvidenceBody, at: string): string =>
  `evidence-${kind}-${id.replace(/[^\w.-]/g, '_').slice(0, 64)}-${at.slice(0, 19).replace(/[-:]/g, '')}Z.tgz`;
