import { contextPointer, isOwnResult } from '@svc/contract';
import { contentPrefix, evidenceLimits, type EvidenceData, type Member } from '@svc/evidence-format';
import { sha256 } from '@svc/audit-chain';
import { findResultOwner, isWithheld } from '@svc/jobs';
import type { JobRecord, Store } from '@svc/store';

/** Larger documents are not hashed, and at most this much in one bundle. */
const MAX_DOCUMENT_BYTES = 16 * 1_048_576;
const MAX_HASHED_BYTES = 256 * 1_048_576;

interface Wanted {
  role: EvidenceData['role'];
  pointer: string;
  withheld?: boolean;
  /** Why it is only named. */
  note?: string;
  isHashOnly?: boolean;
}

/** Hashes the documents of jobs, and keeps their content if the bundle includes it. */
export class DocumentReader {
  readonly entries: EvidenceData[] = [];
  readonly contents: Member[] = [];
  private hashedBytes = 0;
  private contentBytes = 0;

  constructor(
    private readonly store: Pick<Store, 'data' | 'jobs'>,
    private readonly includesContent: boolean,
  ) {}

  async addJob(job: JobRecord): Promise<void> {
    const withheld = isWithheld(job);
    for (const wanted of listDocuments(job)) {
      const isOutput = wanted.role !== 'input';
      await this.add(job, { ...wanted, ...(isOutput && withheld && { withheld: true }) });
    }
  }

  /** Adds a text that is not in the data store, such as a policy. @returns its member, or undefined */
  addText(text: string): string | undefined {
    return this.includesContent ? this.keep(Buffer.from(text)) : undefined;
  }

  private async add(job: JobRecord, wanted: Wanted): Promise<void> {
    const { role, pointer, withheld } = wanted;
    const entry: EvidenceData = { job_id: job.id, role, pointer, ...(withheld && { withheld }) };
    this.entries.push(entry);
    const note = wanted.note ?? (await this.fill(entry, job, wanted));
    if (note !== undefined) entry.note = note;
  }

  /** @returns why there is no hash, or no content */
  private async fill(
    entry: EvidenceData,
    job: JobRecord,
    { pointer, isHashOnly }: Wanted,
  ): Promise<string | undefined> {
    if (!(await this.isReadable(job, entry))) return 'it belongs to another job';
    const most = Math.min(MAX_DOCUMENT_BYTES, MAX_HASHED_BYTES - this.hashedBytes);
    const isContent = this.includesContent && !entry.withheld && !isHashOnly;
    if (isContent) {
      // The same read is hashed and kept, so that the hash is that of the content.
      const found = await this.store.data.read(pointer, most);
      if (!found) return 'it is not kept any more';
      entry.bytes = found.sizeBytes;
      if (found.body.length < found.sizeBytes) return 'it is too large to hash';
      this.hashedBytes += found.sizeBytes;
      entry.sha256 = sha256(found.body);
      const member = this.keep(found.body);
      if (member === undefined) return 'its content is too large for the bundle';
      entry.content = member;
      return undefined;
    }
    const digest = await this.store.data.digest(pointer, most);
    if (!digest) return 'it is not kept any more';
    entry.bytes = digest.sizeBytes;
    if (!digest.sha256) return 'it is too large to hash';
    this.hashedBytes += digest.sizeBytes;
    entry.sha256 = digest.sha256.toString('hex');
    if (!this.includesContent) return undefined;
    return entry.withheld ? 'output policy withholds its content' : 'its content is not part of bundles';
  }

  /** Workers name pointers, so each is followed only to data of the job itself or of its tenant. */
  private async isReadable(job: JobRecord, { role, pointer }: EvidenceData): Promise<boolean> {
    if (role === 'input') return true;
    if (role === 'artifact') {
      const meta = await this.store.data.artifactMeta(pointer.slice('redis://art:'.length));
      return meta === null || meta.labels['tenant_id'] === job.tenant;
    }
    if (pointer === `redis://res:${job.id}`) return true;
    const owner = await findResultOwner(this.store, pointer.slice('redis://res:'.length));
    return owner === undefined || owner.id === job.id;
  }

  private keep(body: Buffer): string | undefined {
    if (this.contentBytes + body.length > evidenceLimits.bytes / 2) return undefined;
    this.contentBytes += body.length;
    const path = `${contentPrefix}${this.contents.length + 1}`;
    this.contents.push({ path, body });
    return path;
  }
}

function listDocuments(job: JobRecord): Wanted[] {
  const { result_ptr: result, output_safety: output, artifact_ptrs: artifacts = [] } = job;
  const input = contextPointer(job);
  const isInStore = input.startsWith('redis://ctx:');
  const list: Wanted[] = [
    {
      role: 'input',
      pointer: input,
      ...(!isInStore && { note: 'it is outside of the store, or the result of another job' }),
    },
  ];
  const addOutput = (role: Wanted['role'], pointer: string | undefined, isHashOnly = false) => {
    if (!pointer || list.some((known) => known.pointer === pointer)) return;
    const isOwn = isOwnResult(job.id, pointer);
    list.push({ role, pointer, isHashOnly, ...(!isOwn && { note: 'it is outside of the store, or of another job' }) });
  };
  addOutput(output?.redacted_ptr && output.redacted_ptr === result ? 'redacted_output' : 'output', result);
  // What a redaction removed stays out of the bundle.
  addOutput('output', output?.original_ptr, output?.decision === 'REDACT');
  addOutput('redacted_output', output?.redacted_ptr);
  for (const pointer of artifacts) {
    const isStored = pointer.startsWith('redis://art:') && !pointer.startsWith('redis://art:meta:');
    list.push({
      role: 'artifact',
      pointer,
      isHashOnly: true,
      ...(!isStored && { note: 'it is outside of the store' }),
    });
  }
  return list;
}
