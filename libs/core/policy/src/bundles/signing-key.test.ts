import { generateKeyPairSync } from 'node:crypto';
import { bundleSignatureFault, publicHalf, signBundle } from './bundle-signature';
import { readSigningKey } from './signing-key';

const { privateKey } = generateKeyPairSync('ed25519');
const der = privateKey.export({ type: 'pkcs8', format: 'der' });
const seed = der.subarray(-32);
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

describe('readSigningKey', () => {
  it.each([
    ['PEM', pem],
    ['PKCS #8 in base64', der.toString('base64')],
    ['PKCS #8 in hex', der.toString('hex')],
    ['a seed in base64', seed.toString('base64')],
    ['a seed in hex, with a line end', `${seed.toString('hex')}\n`],
    ['a seed and its public key', Buffer.concat([seed, Buffer.alloc(32, 7)]).toString('base64')],
  ])('reads %s, and its signatures are valid', (_, text) => {
    const key = readSigningKey(text);
    if (!key) throw new Error('no key was read');
    const signing = { id: 'ops', key };

    const bundle = { content: 'rules: []', enabled: true, _signature: signBundle('rules: []', signing) };

    expect(
      bundleSignatureFault(bundle, new Map([['OPS', publicHalf({ id: 'ops', key: privateKey })]])),
    ).toBeUndefined();
    expect(bundleSignatureFault({ ...bundle, content: 'rules: [ ]' }, new Map())).toMatch(
      /differs from the signed text/,
    );
  });

  it.each([
    ['nothing', ''],
    ['words', 'a key of ours'],
    ['too few bytes', seed.subarray(1).toString('hex')],
    ['a broken PEM', pem.replace('MC4C', 'MC4D')],
    [
      'a key of another kind',
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ],
  ])('rejects %s', (_, text) => {
    expect(readSigningKey(text)).toBeUndefined();
  });
});
