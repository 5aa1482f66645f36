import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/**
 * Creates a self-signed certificate and its key as PEM. Encodes DER directly, because tests need it synchronously: the
 * libraries that create certificates are asynchronous, and openssl may not be installed.
 */
export function selfSigned(name: string): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaSha256 = der(0x30, oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const subject = der(0x30, der(0x31, der(0x30, oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))));
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const altNames = der(0x30, oid(0x55, 0x1d, 0x11), der(0x04, der(0x30, der(0x82, Buffer.from(name)))));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaSha256,
    subject,
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, altNames)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  return {
    cert: pem('CERTIFICATE', der(0x30, body, ecdsaSha256, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const n = content.length;
  const length = n < 128 ? [n] : n < 256 ? [0x81, n] : [0x82, n >> 8, n & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const oid = (...bytes: number[]) => der(0x06, Buffer.from(bytes));
const pem = (label: string, content: Buffer) =>
  `-----BEGIN ${label}-----\n${content.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;
