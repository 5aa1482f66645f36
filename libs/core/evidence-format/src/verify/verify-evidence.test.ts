import { inclusionProof, signCheckpoint, type SignedCheckpoint } from '@svc/audit-chain';
import { generateKeyPairSync } from 'node:crypto';
import { memberNames } from '../format';
import { givenEvidence, signMembers, type GivenEvidence } from '../given-evidence.testing';
import type { Member } from '../manifest';
import { verifyEvidence } from './verify-evidence';

let given: GivenEvidence;
beforeAll(async () => {
  given = await givenEvidence({ content: 'say hello' });
});

const verify = (members: readonly Member[], options = {}) =>
  verifyEvidence(members, { keys: [given.publicKey], ...options });
const first = (members: readonly Member[], options = {}) => verify(members, options).faults[0];

/** The bundle with a member that was changed, signed again by the installation's own key: the service or its key is not honest. */
const resign = (path: string, change: (text: string) => string, more = {}) =>
  signMembers(
    given.members
      .slice(1)
      .map((member) =>
        member.path === path ? { path, body: Buffer.from(change(member.body.toString('utf8'))) } : member,
      ),
    given.signingKey,
    { includes_content: true, ...more },
  );
type Json = Record<string, unknown>;
const changeJson = (path: string, change: (value: Json) => unknown) =>
  resign(path, (text) => JSON.stringify(change(JSON.parse(text) as Json)));
const changeLine = (line: number, change: (event: Json) => unknown) =>
  resign(memberNames.events, (text) =>
    text
      .split('\n')
      .map((one, i) => (i === line - 1 ? JSON.stringify(change(JSON.parse(one) as Json)) : one))
      .join('\n'),
  );

describe('an evidence bundle', () => {
  it('is verified with the key of the installation', () => {
    const report = verify(given.members);

    expect(report).toMatchObject({ isVerified: true, faults: [], warnings: [], isKeyGiven: true });
    expect(report.checks.filter(({ result }) => result !== 'passed').map(({ name }) => name)).toEqual(['anchors']);
    expect(report.events.map(({ seq }) => seq)).toEqual([2, 4, 6, 8]);
  });

  it('is verified without a key, with a warning that names the key', () => {
    const report = verifyEvidence(given.members);

    expect(report).toMatchObject({ isVerified: true, isKeyGiven: false });
    expect(report.warnings.join()).toContain(report.manifest?.key_id);
  });

  it('fails with another key than the one that signed it', () => {
    const { publicKey } = generateKeyPairSync('ed25519');

    expect(first(given.members, { keys: [publicKey] })).toMatchObject({ place: 'manifest.json' });
  });

  it('fails when a stranger signed it and named their own key', () => {
    const forger = generateKeyPairSync('ed25519').privateKey;

    expect(first(signMembers(given.members.slice(1), forger))?.place).toBe('manifest.json');
  });

  it('names each member that was changed, removed, added, repeated or moved', () => {
    const [manifest, ...others] = given.members;
    if (!manifest) throw new Error('no manifest');
    for (const { path } of others) {
      const changed = others.map((member) =>
        member.path === path ? { path, body: Buffer.concat([member.body, Buffer.from(' ')]) } : member,
      );
      expect(first([manifest, ...changed])?.place).toBe(path);
      expect(first([manifest, ...others.filter((member) => member.path !== path)])?.place).toBe(path);
    }
    expect(first([...given.members, { path: 'more.json', body: Buffer.from('{}') }])?.place).toBe('more.json');
    expect(first([...given.members, ...others.slice(0, 1)])?.place).toBe('README.txt');
    expect(first([manifest, ...others.slice(1, 2), ...others.slice(0, 1), ...others.slice(2)])?.place).toBe(
      'README.txt',
    );
    expect(first(others)?.place).toBe('manifest.json');
    expect(first([])?.place).toBe('manifest.json');
  });

  it('fails for every changed byte of its manifest', () => {
    const [manifest, ...others] = given.members;
    const body = manifest?.body ?? Buffer.alloc(0);
    for (let at = 0; at < body.length; at++) {
      const changed = Buffer.from(body);
      changed.writeUInt8(body.readUInt8(at) ^ 1, at);
      expect([at, first([{ path: 'manifest.json', body: changed }, ...others])]).toMatchObject([
        at,
        { place: 'manifest.json' },
      ]);
    }
  });
});

describe('a chain that was changed, in a bundle that the installation signed', () => {
  it.each<[string, () => Member[], number]>([
    ['an event was edited', () => changeLine(2, (event) => ({ ...event, text: String(event['text']).replace('reason 4', 'reason 5') })), 4],
    ['an event was replaced', () => changeLine(2, (event) => ({ ...event, text: given.chain[4]?.text, hash: given.chain[4]?.hash })), 4],
    ['an event has the number of another', () => changeLine(2, (event) => ({ ...event, seq: 5 })), 5],
    ['an event has no proof', () => changeLine(3, ({ path: _, ...event }) => event), 6],
    ['a proof was shortened', () => changeLine(3, (event) => ({ ...event, path: (event['path'] as string[]).slice(1) })), 6],
    ['a proof is that of another event', () => changeLine(3, (event) => ({ ...event, path: JSON.parse(given.members[2]?.body.toString().split('\n')[0] ?? '')['path'] })), 6],
    ['events are in another order', () => resign(memberNames.events, (text) => { const [a, b, ...rest] = text.split('\n'); return [b, a, ...rest].join('\n'); }), 2],
    ['an event is about another job', () => resign(memberNames.events, (text) => text, { subject: { kind: 'job', id: 'job-9' } }), 2],
    ['an event is outside of the part that was searched', () => resign(memberNames.events, (text) => text, { window: { from: '', to: '', first_seq: 1, last_seq: 7, searched: 7 } }), 8],
    ['the installation found a fault', () => changeJson(memberNames.verification, () => ({ status: 'compromised', gaps: [{ at_seq: 3, type: 'missing' }] })), 3],
  ])('%s: the event is named', (_name, change, seq) => {
    expect(first(change())).toMatchObject({ seq });
  }); // prettier-ignore

  it('fails when it states another number of events', () => {
    expect(first(resign(memberNames.events, (text) => text, { events: 5 }))?.place).toBe(memberNames.events);
  });

  it('fails with a checkpoint of another tenant, another installation, or with a forged signature', async () => {
    const other = await givenEvidence({ tenant: 'globex', signingKey: given.signingKey });
    const foreign = changeJson(memberNames.checkpoints, (all) => ({ ...all, covering: other.checkpoints[1] }));
    const { signature: _, key_id: _id, ...own } = given.checkpoints[1] as SignedCheckpoint;
    const moved = signCheckpoint({ ...own, installation: 'installation-2' }, given.signingKey);
    const forged = signCheckpoint(own, generateKeyPairSync('ed25519').privateKey);
    const replace = (covering: SignedCheckpoint) =>
      first(changeJson(memberNames.checkpoints, (all) => ({ ...all, covering })));

    expect(first(foreign)).toMatchObject({ place: `${memberNames.checkpoints}, covering checkpoint`, text: 'it is of another tenant' });
    expect(replace(moved)?.text).toBe('it is of another installation');
    expect(replace(forged)?.text).toMatch(/^its signature/);
    expect(replace({ ...forged, key_id: own.event_hash.slice(0, 16) })?.text).toMatch(/^its signature/);
  }); // prettier-ignore

  it('fails when the newest checkpoint does not continue the one that covers the events', async () => {
    const rewritten = await givenEvidence({ events: 13, signingKey: given.signingKey });
    const { signature: _, ...newest } = rewritten.checkpoints[2] as SignedCheckpoint;
    const signed = signCheckpoint({ ...newest, merkle_root: 'a'.repeat(64) }, given.signingKey);

    const fault = first(changeJson(memberNames.checkpoints, (all) => ({ ...all, newest: signed })));
    expect(fault).toMatchObject({ place: `${memberNames.checkpoints}, consistency proof`, seq: 8 });
  });

  it('fails with proofs to another checkpoint than the signed one', async () => {
    const paths = await Promise.all(
      [1, 3, 5, 7].map(async (i) => (await inclusionProof(given.tree, i, 12)).map((hash) => hash.toString('hex'))),
    );
    const changed = resign(memberNames.events, (text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line, i) => `${JSON.stringify({ ...(JSON.parse(line) as Json), path: paths[i] })}\n`)
        .join(''),
    );

    expect(verify(changed).faults.map(({ seq }) => seq)).toEqual([2, 4, 6, 8]);
  });
});

describe('anchors', () => {
  const anchors = () => given.checkpoints;

  it('of the chain confirm it', () => {
    expect(verify(given.members, { anchors: anchors() })).toMatchObject({ isVerified: true, warnings: [] });
  });

  it('show that the chain was written again, with a valid signature', async () => {
    const again = await givenEvidence({ signingKey: given.signingKey });
    const { signature: _, ...other } = again.checkpoints[0] as SignedCheckpoint;
    const anchored = signCheckpoint({ ...other, event_hash: 'b'.repeat(64) }, given.signingKey);

    expect(first(given.members, { anchors: [anchored] })).toMatchObject({ seq: 4 });
  });

  it('show that the end of the chain was removed', () => {
    const { signature: _, ...last } = given.checkpoints[2] as SignedCheckpoint;
    const beyond = signCheckpoint({ ...last, seq: 20 }, given.signingKey);

    expect(first(given.members, { anchors: [beyond] })).toMatchObject({ seq: 13 });
  });

  it('that are not signed, of another tenant, or of a later time say nothing', async () => {
    const other = await givenEvidence({ tenant: 'globex', signingKey: given.signingKey });
    const { signature: _, ...last } = given.checkpoints[2] as SignedCheckpoint;
    const later = signCheckpoint({ ...last, seq: 20, at: '2026-11-24T00:00:00.000Z' }, given.signingKey);
    const unsigned = { ...given.checkpoints[0], event_hash: 'c'.repeat(64) } as SignedCheckpoint;

    const report = verify(given.members, { anchors: [...other.checkpoints, unsigned] });
    expect(report).toMatchObject({ isVerified: true, warnings: [expect.stringContaining('none of the anchors')] });
    expect(verify(given.members, { anchors: [later] }).isVerified).toBe(true);
  });
});

describe('content', () => {
  it('fails when it is not the document of which the bundle has the hash', () => {
    expect(first(resign('content/1', () => 'say goodbye'))?.place).toBe('content/1');
    expect(first(changeJson(memberNames.data, () => []))?.place).toBe('content/1');
  });
});
