import { sha256 } from '@svc/audit-chain';
import { pack } from 'tar-stream';
import type { Member } from './manifest';

/*
 * Bytes of the archive that neither a member nor its hash covers: the fields of tar headers, padding, and the gzip frame. They
 * have one form only, so that a verifier can compare each of them.
 */

/** Packs members as a tar archive: regular files with fixed modes, owners and times. */
export async function packMembers(members: readonly Member[]): Promise<Buffer> {
  const archive = pack();
  const fixed = { mode: 0o644, uid: 0, gid: 0, mtime: new Date(0), type: 'file' as const, uname: '', gname: '' };
  for (const { path, body } of members) archive.entry({ ...fixed, name: path, size: body.length }, body);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const DIGEST_BYTES = 32;
/** Id of the extra field of the gzip header (RFC 1952, 2.3.1.1) that contains the digest of all bytes after the header. */
const FIELD = Buffer.from('SV');
/** Deflate, with an extra field, no time, no flags, from an unknown system; then the sizes of the extra field. */
const HEADER = Buffer.concat([
  Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255]),
  Buffer.from([DIGEST_BYTES + 4, 0]),
  FIELD,
  Buffer.from([DIGEST_BYTES, 0]),
]);
const PLAIN_HEADER_BYTES = 10;
export const FRAME_BYTES = HEADER.length + DIGEST_BYTES;

/**
 * Gives the gzip frame its fixed form. The digest covers what no checksum of gzip does, such as unused bits of the compressed
 * data.
 *
 * @param zipped gzip data with a header of ten bytes, as zlib writes it
 */
export function frameGzip(zipped: Buffer): Buffer {
  const data = zipped.subarray(PLAIN_HEADER_BYTES);
  return Buffer.concat([HEADER, Buffer.from(sha256(data), 'hex'), data]);
}

/** @returns the fault of the frame and the bytes where it is, or undefined */
export function findFrameFault(archive: Buffer): { place: string; text: string } | undefined {
  if (archive.length < FRAME_BYTES) return { place: 'archive', text: `it has only ${archive.length} bytes` };
  const at = HEADER.findIndex((byte, i) => archive[i] !== byte);
  if (at >= 0) return { place: `archive, byte ${at}`, text: 'the gzip header is not that of an evidence bundle' };
  const digest = archive.subarray(HEADER.length, FRAME_BYTES).toString('hex');
  if (digest === sha256(archive.subarray(FRAME_BYTES))) return undefined;
  return {
    place: `archive, bytes ${HEADER.length} to ${archive.length - 1}`,
    text: 'the compressed data differs from its digest in the header',
  };
}
