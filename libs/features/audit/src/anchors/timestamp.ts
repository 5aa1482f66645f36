import { fromBER, Integer, OctetString } from 'asn1js';
import { randomBytes, createHash } from 'node:crypto';
import {
  AlgorithmIdentifier,
  Certificate,
  ContentInfo,
  id_eContentType_TSTInfo,
  MessageImprint,
  SignedData,
  TimeStampReq,
  TimeStampResp,
  TSTInfo,
} from 'pkijs';

const SHA_256 = '2.16.840.1.101.3.4.2.1';
const MAX_GRANTED_STATUS = 1;

/** A request to a time-stamp authority (RFC 3161), and what its answer must contain. */
export interface TimestampRequest {
  der: Buffer;
  /** What the timestamp is of. */
  signed: Buffer;
  digest: Buffer;
  nonce: Buffer;
}

/** Requests a timestamp of these bytes, by their SHA-256. The authority learns nothing else. */
export function buildTimestampRequest(signed: Buffer): TimestampRequest {
  const digest = createHash('sha256').update(signed).digest();
  const nonce = randomBytes(8);
  // Positive, and without a leading zero byte.
  nonce[0] = ((nonce[0] ?? 0) & 0x7f) | 0x40;
  const request = new TimeStampReq({
    version: 1,
    messageImprint: new MessageImprint({
      hashAlgorithm: new AlgorithmIdentifier({ algorithmId: SHA_256 }),
      hashedMessage: new OctetString({ valueHex: toArrayBuffer(digest) }),
    }),
    nonce: new Integer({ valueHex: toArrayBuffer(nonce) }),
    certReq: true,
  });
  return { der: Buffer.from(request.toSchema().toBER(false)), signed, digest, nonce };
}

/** A token of a time-stamp authority. */
export interface Timestamp {
  /** Time that the authority signed, RFC 3339. */
  at: string;
  /** TimeStampToken (DER). */
  token: Buffer;
}

/**
 * Reads and checks the answer of a time-stamp authority.
 *
 * @param trusted certificates (DER) from which that of the authority must descend; empty = its signature is not verified
 * @throws Error when it is not a token for this request
 */
export async function readTimestamp(
  answer: Buffer,
  { signed: data, digest, nonce }: Omit<TimestampRequest, 'der'>,
  trusted: readonly Buffer[],
): Promise<Timestamp> {
  const { status, timeStampToken } = parse(answer);
  if (status.status > MAX_GRANTED_STATUS || !timeStampToken)
    throw new Error(`the time-stamp authority refused the request with status ${status.status}`);
  const signed = signedData(timeStampToken);
  const info = readInfo(signed);
  const imprint = Buffer.from(info.messageImprint.hashedMessage.valueBlock.valueHexView);
  if (info.messageImprint.hashAlgorithm.algorithmId !== SHA_256 || !imprint.equals(digest))
    throw new Error('the timestamp is of other bytes');
  const given = Buffer.from(info.nonce?.valueBlock.valueHexView ?? []);
  if (!given.equals(nonce)) throw new Error('the timestamp has another nonce');
  if (trusted.length > 0) await verifySignature(signed, data, trusted);
  return { at: info.genTime.toISOString(), token: Buffer.from(timeStampToken.toSchema().toBER(false)) };
}

function parse(answer: Buffer): TimeStampResp {
  try {
    const { result, offset } = fromBER(toArrayBuffer(answer));
    if (offset !== -1) return new TimeStampResp({ schema: result });
  } catch {
    // Answered below.
  }
  throw new Error('the answer of the time-stamp authority is not a timestamp');
}

const signedData = (token: ContentInfo): SignedData => {
  try {
    return new SignedData({ schema: token.content });
  } catch {
    throw new Error('the timestamp is not signed');
  }
};

function readInfo({ encapContentInfo }: SignedData): TSTInfo {
  const content = encapContentInfo.eContent?.getValue();
  if (encapContentInfo.eContentType !== id_eContentType_TSTInfo || !content)
    throw new Error('the timestamp has no content');
  return TSTInfo.fromBER(content);
}

async function verifySignature(signed: SignedData, data: Buffer, trusted: readonly Buffer[]): Promise<void> {
  const trustedCerts = trusted.map((der) => Certificate.fromBER(toArrayBuffer(der)));
  const valid = await signed
    .verify({ signer: 0, trustedCerts, checkChain: true, data: toArrayBuffer(data) })
    .catch(() => false);
  if (!valid) throw new Error('the signature of the timestamp does not verify');
}

const toArrayBuffer = (bytes: Buffer): ArrayBuffer => new Uint8Array(bytes).buffer;
