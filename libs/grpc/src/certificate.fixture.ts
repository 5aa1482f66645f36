import { generateKeyPairSync, sign } from 'node:crypto';

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const long = body.length > 127 ? [0x82, body.length >> 8, body.length & 255] : [body.length];
  return Buffer.concat([Buffer.from([tag, ...long]), body]);
};
const ed25519 = der(0x30, Buffer.from('06032b6570', 'hex'));
const name = (text: string) =>
  der(0x30, der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from(text)))));
const time = (text: string) => der(0x18, Buffer.from(text));

/** A self-signed certificate of a name and its key, both PEM. */
export function certificateOf(subject: string): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const validity = der(0x30, time('20200101000000Z'), time('21200101000000Z'));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const serial = der(0x02, Buffer.from([1]));
  const body = der(0x30, version, serial, ed25519, name(subject), validity, name(subject), spki);
  const signature = der(0x03, Buffer.from([0]), sign(null, body, privateKey));
  const base64 = der(0x30, body, ed25519, signature).toString('base64');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
