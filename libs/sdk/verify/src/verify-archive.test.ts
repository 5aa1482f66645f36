import { packMembers, frameGzip, FRAME_BYTES, type Member } from '@svc/evidence-format';
import { givenEvidence, packBundle, type GivenEvidence } from '@svc/fixtures/evidence-format';
import fc from 'fast-check';
import { deflateRawSync, gunzipSync, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { MAX_ARCHIVE_BYTES } from './read-archive';
import { verifyArchive } from './verify-archive';

let given: GivenEvidence;
beforeAll(async () => {
  given = await givenEvidence({ content: 'say hello' });
});

const verify = (archive: Buffer) => verifyArchive(archive, { keys: [given.publicKey] });
const firstPlace = async (archive: Buffer) => (await verify(archive)).faults[0]?.place;
const flip = (bytes: Buffer, at: number, mask = 1) => {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(bytes.readUInt8(at) ^ mask, at);
  return changed;
};
const zip = (tar: Buffer) => frameGzip(gzipSync(tar));
const findEntry = (members: readonly Member[], at: number) => {
  let start = 0;
  for (const { path, body } of members) {
    if (at < start + 512) return { path, part: 'header' };
    if (at < start + 512 + body.length) return { path, part: 'body' };
    start += 512 + Math.ceil(body.length / 512) * 512;
    if (at < start) return { path, part: 'padding' };
  }
  return { path: '', part: 'end' };
};

describe('an archive', () => {
  it('that is unchanged is verified', async () => {
    expect(await verify(given.archive)).toMatchObject({ isVerified: true, faults: [], warnings: [] });
  });

  it('fails for any changed byte, at each place of the gzip frame and anywhere in the compressed data', async () => {
    for (let at = 0; at < FRAME_BYTES; at++) expect([at, await firstPlace(flip(given.archive, at))]).toEqual([at, expect.stringMatching(/^archive, byte/)]);
    // Unused bits of the last byte of compressed data, and the checksum and length after it.
    for (let at = given.archive.length - 10; at < given.archive.length; at++)
      for (const mask of [1, 0x80]) expect(await firstPlace(flip(given.archive, at, mask))).toMatch(/^archive, bytes 16 to/);
    const positions = fc.integer({ min: FRAME_BYTES, max: given.archive.length - 1 });
    await fc.assert(
      fc.asyncProperty(positions, fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        expect(await firstPlace(flip(given.archive, at, mask))).toMatch(/^archive, bytes 16 to/);
      }),
      { numRuns: 200 },
    );
  }); // prettier-ignore

  it('fails for any changed byte of a member, a header or padding, and names the member, even if it is packed again', async () => {
    const tar = await packMembers(given.members);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: tar.length - 1 }), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const { path, part } = findEntry(given.members, at);
        const report = await verify(zip(flip(tar, at, mask)));

        expect(report.isVerified).toBe(false);
        const places = report.faults.map(({ place, text }) => `${place}: ${text}`).join('\n');
        expect(places).toContain(part === 'body' ? path : 'archive');
      }),
      { numRuns: 300 },
    );
  }, 60_000); // prettier-ignore

  it('names each member in which a byte was changed', async () => {
    for (const [i, { path, body }] of given.members.entries()) {
      for (const at of [0, Math.floor(body.length / 2), body.length - 1]) {
        const members = given.members.map((member, k) => (k === i ? { path, body: flip(body, at) } : member));
        const report = await verify(await packBundle(members));

        expect(report.faults[0]?.place).toBe(path);
      }
    }
  });

  it('fails when it is cut at any place, and reports what is left', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: given.archive.length - 1 }), async (length) => {
        const report = await verify(given.archive.subarray(0, length));

        expect(report.isVerified).toBe(false);
        expect(report.faults[0]?.place).toMatch(/^archive/);
      }),
      { numRuns: 100 },
    );
  });

  it('fails when bytes or another gzip member follow it', async () => {
    for (const more of [Buffer.from('x'), Buffer.alloc(512), gzipSync(Buffer.from('more'))])
      expect(await firstPlace(Buffer.concat([given.archive, more]))).toMatch(/^archive/);
    const tar = gunzipSync(given.archive);
    expect((await verify(zip(Buffer.concat([tar, Buffer.alloc(1_024)])))).isVerified).toBe(false);
  });

  it('fails for anything that is no archive', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        expect((await verify(Buffer.from(bytes))).isVerified).toBe(false);
        expect((await verify(zip(Buffer.from(bytes)))).isVerified).toBe(false);
      }),
    );
  });

  it('that would unpack to gigabytes is read up to the limit', async () => {
    // A run of zeros, compressed a thousandfold: the blocks of one sync flush can be repeated.
    const block = deflateRawSync(Buffer.alloc(1_048_576), { finishFlush: 2 });
    const bomb = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]), ...Array.from({ length: 2_000 }, () => block)]);
    const before = process.memoryUsage().rss;

    const report = await verify(frameGzip(bomb));

    expect(report.faults.map(({ text }) => text).join()).toContain('it unpacks to more than');
    expect(process.memoryUsage().rss - before).toBeLessThan(600 * 1_048_576);
  }); // prettier-ignore

  it('that is larger than any bundle is not unpacked', async () => {
    expect((await verify(Buffer.alloc(MAX_ARCHIVE_BYTES + 1))).faults).toHaveLength(2);
  });

  it.each([
    ['a path outside', { name: '../evil' }],
    ['an absolute path', { name: '/etc/passwd' }],
    ['a link', { name: 'link', type: 'symlink', linkname: '/etc/passwd' }],
    ['a folder', { name: 'folder', type: 'directory' }],
    ['control characters', { name: 'a\u001b[31m' }],
  ])('with %s is refused', async (_name, header) => {
    const archive = pack();
    archive.entry(header as { name: string }, '');
    archive.finalize();
    const chunks: Buffer[] = [];
    for await (const chunk of archive) chunks.push(chunk as Buffer);

    const report = await verify(zip(Buffer.concat(chunks)));
    expect(report.faults[0]).toMatchObject({ place: 'archive', text: expect.stringContaining('not a regular file') });
  });

  it('with thousands of members is refused', async () => {
    const many = Array.from({ length: 4_200 }, (_, i) => ({ path: `f${i}`, body: Buffer.alloc(0) }));

    expect((await verify(await packBundle(many))).faults[0]?.text).toBe('it has more than 4096 members');
  });
});
