import { sign } from 'jsonwebtoken';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataTokens, type DataGrant } from './data-token';
import { dataTokensFrom } from './data-token-key';

const key = 'k3'.repeat(20);
const nowMs = 1_700_000_000_000;
const grant: DataGrant = { purpose: 'result', jobId: 'j', dispatchId: 'd', workerId: 'w', tenant: 'acme' };
const tokens = openDataTokens(key);
const claims = {
  aud: 'svc:data-url',
  exp: nowMs / 1_000 + 60,
  purpose: 'input',
  job: 'j',
  dispatch: 'd',
  worker: 'w',
  tenant: 't',
};
const { exp: _exp, ...lasting } = claims;
const forged = (over: object, secret = key) =>
  sign({ ...claims, ...over }, secret, { algorithm: 'HS256', noTimestamp: true });
const refusal = (token: string, at = nowMs) => {
  try {
    return tokens.verify(token, at);
  } catch (error) {
    return (error as { errorCode: string }).errorCode;
  }
};

describe('the token of a data URL', () => {
  it('is valid for the signed grant until it expires', () => {
    const token = tokens.sign(grant, nowMs + 60_000);

    expect(tokens.verify(token, nowMs)).toEqual(grant);
    expect(refusal(token, nowMs + 61_000)).toBe('data_url_expired');
  });

  it('is refused if any byte is changed', () => {
    const token = tokens.sign(grant, nowMs + 60_000);
    // Some bits of the last character of a part are padding.
    const places = [...token].flatMap((char, i) => (char === '.' || '.'.includes(token[i + 1] ?? '.') ? [] : [i]));

    for (const i of places) {
      const other = token[i] === 'A' ? 'B' : 'A';
      expect(refusal(token.slice(0, i) + other + token.slice(i + 1))).toBe('data_url_invalid');
    }
  });

  it.each([
    ['signed with another key', forged({}, 'x'.repeat(40))],
    ['for another audience', forged({ aud: 'svc' })],
    ['without an expiry', sign(lasting, key, { algorithm: 'HS256', noTimestamp: true })],
    ['with an unknown purpose', forged({ purpose: 'toString' })],
    ['without a dispatch', forged({ dispatch: '' })],
    ['with an id that is not a string', forged({ job: 5 })],
    ['signed with another HMAC', sign(claims, key, { algorithm: 'HS512', noTimestamp: true })],
    ['without a signature', sign(claims, '', { algorithm: 'none', noTimestamp: true })],
    ['that is not a token', 'a.b'],
    ['that is empty', ''],
  ])('is refused when it is one %s', (_, token) => {
    expect(refusal(token)).toBe('data_url_invalid');
  });

  it('is invalid, not expired, when signed with another key: foreign tokens reveal nothing', () => {
    expect(refusal(forged({ exp: 1 }, 'x'.repeat(40)))).toBe('data_url_invalid');
  });
});

describe('the key of data URLs', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-data-key-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const fileWith = (text: string) => {
    const path = join(dir, 'key');
    writeFileSync(path, text);
    return { dataUrlKey: undefined, dataUrlKeyPath: path };
  };

  it('is read from the variable or its file, without the trailing line break', () => {
    const token = dataTokensFrom(fileWith(`${key}\n`))?.sign(grant, nowMs + 60_000) ?? '';

    expect(dataTokensFrom({ dataUrlKey: key, dataUrlKeyPath: undefined })?.verify(token, nowMs)).toEqual(grant);
    expect(dataTokensFrom({ dataUrlKey: undefined, dataUrlKeyPath: undefined })).toBeUndefined();
  });

  it('prevents startup when its file is missing or too short, and the message does not quote it', () => {
    expect(() => dataTokensFrom({ dataUrlKey: undefined, dataUrlKeyPath: join(dir, 'none') })).toThrow(
      /SVC_DATA_URL_KEY_PATH|cannot be signed/,
    );
    expect(() => dataTokensFrom(fileWith('short-one'))).toThrow(/^(?!.*short-one).*at least 32 characters/s);
    expect(() => dataTokensFrom(fileWith(''))).toThrow(/at least 32 characters/);
  });
});
