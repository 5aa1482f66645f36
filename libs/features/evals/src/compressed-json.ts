import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const pack = promisify(gzip);
const unpack = promisify(gunzip);
/** Bounds the memory that a damaged value can take. */
const MAX_BYTES = 128 * 1_024 * 1_024;

/** Compresses a JSON text in a thread of the pool. */
export const compressJson = (text: string): Promise<Buffer> => pack(text);

/** The text that was compressed. */
export const decompressJson = async (bytes: Buffer): Promise<string> =>
  (await unpack(bytes, { maxOutputLength: MAX_BYTES })).toString('utf8');
