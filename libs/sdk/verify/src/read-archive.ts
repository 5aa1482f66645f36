import {
  evidenceLimits,
  findFrameFault,
  FRAME_BYTES,
  packMembers,
  type Findings,
  type Member,
} from '@svc/evidence-format';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';

const BLOCK_BYTES = 512;
/** Headers and padding of members, and the end of the archive. */
const MAX_TAR_BYTES = evidenceLimits.bytes + (2 * evidenceLimits.members + 4) * BLOCK_BYTES;
/** A larger file is no bundle: the service writes none. Compression never adds as much as this. */
export const MAX_ARCHIVE_BYTES = MAX_TAR_BYTES + 1_048_576;

/**
 * Unpacks a bundle in memory, within the limits of the format whatever the archive claims. Members that are intact are returned
 * even if others are not.
 */
export async function readArchive(archive: Buffer, findings: Findings): Promise<Member[]> {
  if (archive.length > MAX_ARCHIVE_BYTES) {
    findings.fault('archive', `it has ${archive.length} bytes, more than any evidence bundle`);
    return [];
  }
  const frameFault = findFrameFault(archive);
  if (frameFault) findings.fault(frameFault.place, frameFault.text);
  const { tar, fault } = await unzip(archive);
  const members = await unpack(tar, fault !== undefined, findings);
  if (fault !== undefined) {
    const where = members.at(-1)?.path;
    findings.fault('archive', `${fault}${where === undefined ? '' : `, after the start of ${where}`}`);
    return members;
  }
  await compareFraming(tar, members, findings);
  return members;
}

/** @returns the bytes up to the first fault */
async function unzip(archive: Buffer): Promise<{ tar: Buffer; fault?: string }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const gunzip = createGunzip();
  try {
    // Small pieces, so that what precedes a fault is unpacked.
    for await (const chunk of Readable.from(pieces(archive)).pipe(gunzip)) {
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_TAR_BYTES)
        return { tar: Buffer.concat(chunks), fault: `it unpacks to more than ${MAX_TAR_BYTES} bytes` };
      chunks.push(chunk as Buffer);
    }
    return { tar: Buffer.concat(chunks) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { tar: Buffer.concat(chunks), fault: `it cannot be decompressed beyond byte ${bytes} (${why})` };
  } finally {
    gunzip.destroy();
  }
}

const PIECE_BYTES = 4_096;

function* pieces(archive: Buffer): Generator<Buffer> {
  for (let at = 0; at < archive.length; at += PIECE_BYTES) yield archive.subarray(at, at + PIECE_BYTES);
}

const memberName = /^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*){0,3}$/;

/** @param isCut the archive is known to end early, which is reported elsewhere */
async function unpack(tar: Buffer, isCut: boolean, findings: Findings): Promise<Member[]> {
  const members: Member[] = [];
  const entries = extract();
  entries.end(tar);
  try {
    for await (const entry of entries) {
      const { name, type } = entry.header;
      const chunks: Buffer[] = [];
      for await (const chunk of entry) chunks.push(chunk as Buffer);
      if (members.length >= evidenceLimits.members) {
        findings.fault('archive', `it has more than ${evidenceLimits.members} members`);
        return members;
      }
      if (type !== 'file' || name.length > 100 || !memberName.test(name)) {
        findings.fault('archive', `member ${members.length + 1} is not a regular file with a name of the format`);
        return members;
      }
      members.push({ path: name, body: Buffer.concat(chunks) });
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const where = members.at(-1)?.path;
    if (!isCut)
      findings.fault(
        'archive',
        `the tar archive is damaged ${where === undefined ? 'at its start' : `after ${where}`} (${why})`,
      );
  }
  return members;
}

/** Headers and padding have one form only, so the members are packed again and the bytes compared. */
async function compareFraming(tar: Buffer, members: readonly Member[], findings: Findings): Promise<void> {
  const expected = await packMembers(members);
  if (expected.equals(tar)) return;
  const at = firstDifference(expected, tar);
  findings.fault(
    `archive, byte ${at} of the tar archive`,
    `${locate(at, members)} differs from what the format allows`,
  );
}

function firstDifference(a: Buffer, b: Buffer): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return i;
  return length;
}

function locate(at: number, members: readonly Member[]): string {
  let start = 0;
  for (const { path, body } of members) {
    if (at < start + BLOCK_BYTES) return `the header of ${path}`;
    start += BLOCK_BYTES + Math.ceil(body.length / BLOCK_BYTES) * BLOCK_BYTES;
    if (at < start) return `the padding of ${path}`;
  }
  return 'the end of the archive';
}

export { FRAME_BYTES };
