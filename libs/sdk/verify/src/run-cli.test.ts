import { givenEvidence, packBundle, signMembers, type GivenEvidence } from '@svc/fixtures/evidence-format';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from './run-cli';

const dir = mkdtempSync(join(tmpdir(), 'svc-verify-'));
afterAll(() => rmSync(dir, { recursive: true }));
const file = (name: string, content: string | Buffer) => {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
};
const run = async (...args: string[]) => {
  let [out, error] = ['', ''];
  const code = await runCli(args, { out: (text) => (out += text), error: (text) => (error += text) });
  return { code, out, error };
};

let given: GivenEvidence;
let bundle: string;
let key: string;
beforeAll(async () => {
  given = await givenEvidence();
  bundle = file('bundle.tgz', given.archive);
  key = file('key.pem', given.publicKey.export({ type: 'spki', format: 'pem' }));
});

describe('svc-verify', () => {
  it('0: prints who asked for what, and the events', async () => {
    const { code, out } = await run('--key', key, bundle);

    expect(code).toBe(0);
    expect(out).toMatch(/Subject +job job-1\n/);
    expect(out).toMatch(/Requested by +ann \(admin\), request r-1\n/);
    expect(out).toContain('job.step8');
    expect(out).toMatch(/\nVERIFIED\n$/);
  });

  it('0: takes the key as base64, and says when none was given', async () => {
    const base64 = file('key.txt', given.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'));

    expect((await run('--key', base64, bundle)).code).toBe(0);
    const { code, out } = await run(bundle);
    expect(code).toBe(0);
    expect(out).toContain('Anybody can write a bundle with a key of their own');
    expect(out).toMatch(/VERIFIED, if the key is the one of the installation\n$/);
  });

  it('0: compares anchors, and skips lines that are none', async () => {
    const anchors = file('anchors', `${given.checkpoints.map((one) => JSON.stringify(one)).join('\n')}\n{"seq":`);

    expect((await run('--key', key, '--anchors', anchors, bundle)).out).toContain('3 anchors of this chain');
  });

  it('1: names the first fault last', async () => {
    const changed = given.members.map(({ path, body }) => ({ path, body: path === 'data.json' ? Buffer.from('[ ]') : body }));
    const { code, out } = await run('--key', key, file('changed.tgz', await packBundle(changed)));

    expect(code).toBe(1);
    expect(out).toMatch(/\nNOT VERIFIED: data.json: the member was changed[^\n]*\n$/);
  }); // prettier-ignore

  it('1: with another key', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');

    expect((await run('--key', file('other.pem', publicKey.export({ type: 'spki', format: 'pem' })), bundle)).code).toBe(1);
  }); // prettier-ignore

  it('prints JSON', async () => {
    const { code, out } = await run('--json', '--key', key, bundle);

    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      { verified: true, key_given: true, faults: [], manifest: { subject: { kind: 'job', id: 'job-1' }, events: 4 } },
    ]);
  });

  it('prints no control characters of a bundle', async () => {
    const hostile = signMembers(given.members.slice(1), given.signingKey, {
      requested_by: { identity: 'ann\u001b[2J\nVERIFIED\u202e', role: '\r', request_id: '\u0007' },
    });
    const { out } = await run('--key', key, file('hostile.tgz', await packBundle(hostile)));

    expect(out).toMatch(/^[\n\x20-\x7e\ufffd…]*$/);
    expect(out.match(/^VERIFIED/gm)).toHaveLength(1);
  });

  it.each<[string, () => string[]]>([
    ['no bundle', () => []],
    ['two bundles', () => [bundle, bundle]],
    ['a file that does not exist', () => [join(dir, 'nothing.tgz')]],
    ['a folder', () => [dir]],
    ['an unknown option', () => ['--trust', bundle]],
    ['a private key', () => ['--key', file('private.pem', given.signingKey.export({ type: 'pkcs8', format: 'pem' })), bundle]],
    ['a key of another kind', () => ['--key', file('rsa.pem', generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ type: 'spki', format: 'pem' })), bundle]],
    ['no key', () => ['--key', file('empty.pem', ''), bundle]],
  ])('2: %s', async (_name, args) => {
    const { code, out, error } = await run(...args());

    expect([code, out]).toEqual([2, '']);
    expect(error).toContain('Usage: svc-verify');
  }); // prettier-ignore
});
