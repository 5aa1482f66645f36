import type { IncomingMessage } from 'node:http';
import { pipeline, Transform, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { OutboundError } from './outbound-error';

/** The content codings that `createDecoder` supports. */
export const acceptedEncodings = 'gzip, br';

/** Allowance for compressed bodies larger than their content: format headers and incompressible blocks. */
const MAX_ENCODING_OVERHEAD_BYTES = 1_024;

/**
 * Reads and decompresses a body. The limit applies to the decompressed bytes, which bounds decompression bombs, and to the
 * compressed bytes, since a compressed body of any length may decompress to nothing.
 *
 * @throws OutboundError response_too_large, decoding_failed; errors of the connection as they are
 */
export async function readBody(response: IncomingMessage, url: URL, maxBytes: number): Promise<Buffer> {
  const decoder = createDecoder(response.headers['content-encoding'], url);
  const maxWireBytes = maxBytes + (decoder ? MAX_ENCODING_OVERHEAD_BYTES : 0);
  const tooLarge = () => new OutboundError('response_too_large', { url });
  if (Number(response.headers['content-length']) > maxWireBytes) throw tooLarge();
  const body: Readable = decoder
    ? // The loop below receives the errors: the pipeline destroys its last stream with the error of any of them.
      pipeline(response, limitBytes(maxWireBytes, tooLarge), decoder, () => undefined)
    : response;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // Leaving the loop destroys the body, which ends the connection.
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    throw decoder && isDecodingError(error) ? new OutboundError('decoding_failed', { url }) : error;
  }
  return Buffer.concat(chunks);
}

function createDecoder(encoding: string | undefined, url: URL) {
  switch (encoding?.trim().toLowerCase() ?? '') {
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    default:
      throw new OutboundError('decoding_failed', { url });
  }
}

function limitBytes(maxBytes: number, tooLarge: () => Error): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(tooLarge());
      else done(null, chunk);
    },
  });
}

/** Errors of zlib and Brotli have a number; those of sockets have the system call as well. */
const isDecodingError = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'errno' in error && !('syscall' in error);
