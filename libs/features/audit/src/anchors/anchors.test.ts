import { signCheckpoint, type SignedCheckpoint } from '@svc/audit-chain';
import { useRedisStore } from '@svc/fixtures/store';
import { canonicalJson } from '@svc/json';
import { keys } from '@svc/store';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { person } from '@svc/testing';
import { Webhook } from 'standardwebhooks';
import { listTimestamps } from '../chain/prove';
import type { Anchor } from './anchor';
import { publishAnchors } from './publish-anchors';
import { buildTimestampRequest, readTimestamp } from './timestamp';
import { timestampAnchor } from './timestamp-anchor';
import { webhookAnchor } from './webhook-anchor';

const use = useRedisStore();
const { privateKey } = generateKeyPairSync('ed25519');
const checkpoint = (tenant_id: string, seq: number): SignedCheckpoint =>
  signCheckpoint(
    {
      ...{ installation: 'i', tenant_id, seq, event_hash: 'a'.repeat(64), merkle_root: 'b'.repeat(64) },
      at: new Date().toISOString(),
    },
    privateKey,
  );
const keep = async (tenant: string, seq: number) => {
  const taken = checkpoint(tenant, seq);
  await use.store.redis.sadd(keys.auditTenants(), tenant);
  await use.store.audit.keepCheckpoint(tenant, taken);
  return taken;
};

/** A time-stamp authority: openssl signs, behind an HTTP server. */
function createAuthority() {
  const dir = mkdtempSync(join(tmpdir(), 'tsa-'));
  const file = (name: string) => join(dir, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  writeFileSync(
    file('conf'),
    `[req]\ndistinguished_name=dn\n[dn]\n[ca]\nbasicConstraints=critical,CA:true\n[leaf]\nextendedKeyUsage=critical,timeStamping\n` +
      `[tsa]\ndefault_tsa=t\n[t]\nserial=${file('serial')}\nsigner_digest=sha256\ndefault_policy=1.2.3.4\ndigests=sha256\naccuracy=secs:1\n`,
  );
  writeFileSync(file('serial'), '01');
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-config', file('conf')];
  openssl('req', '-x509', ...ec, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=ca', '-extensions', 'ca');
  openssl('req', '-new', ...ec, '-keyout', 'tsa.key', '-out', 'tsa.csr', '-subj', '/CN=tsa');
  const ca = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
  openssl('x509', '-req', '-in', 'tsa.csr', ...ca, '-out', 'tsa.pem', '-extfile', 'conf', '-extensions', 'leaf');
  return {
    ca: new X509Certificate(readFileSync(file('ca.pem'))).raw,
    reply(query: Buffer): Buffer {
      writeFileSync(file('query'), query);
      const signer = ['-signer', 'tsa.pem', '-inkey', 'tsa.key'];
      openssl('ts', '-reply', '-config', 'conf', '-queryfile', 'query', ...signer, '-out', 'reply');
      return readFileSync(file('reply'));
    },
    /** Verifies a token independently of the code under test. */
    verifies(token: Buffer, data: Buffer): boolean {
      writeFileSync(file('token'), token);
      writeFileSync(file('data'), data);
      const out = openssl('ts', '-verify', '-in', 'token', '-token_in', '-data', 'data', '-CAfile', 'ca.pem', '-untrusted', 'tsa.pem');
      return out.toString().includes('OK');
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
} // prettier-ignore

const authority = createAuthority();
afterAll(() => authority.remove());

describe('anchors', () => {
  let answer: (body: Buffer, headers: Record<string, string>) => Buffer | number = () => 200;
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('end', () => {
      const result = answer(Buffer.concat(parts), req.headers as Record<string, string>);
      if (typeof result === 'number') res.writeHead(result).end();
      else res.end(result);
    });
  });
  let url = '';
  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => new Promise((done) => server.close(done)));

  const failures: unknown[] = [];
  beforeEach(() => void failures.splice(0));
  const publish = (anchor: Anchor) =>
    publishAnchors({ store: use.store.audit, anchor, onFailure: (error) => failures.push(error) });

  it('webhook: the newest checkpoint of each chain, signed, once', async () => {
    const secret = 'whsec_' + Buffer.from('0123456789abcdef0123456789abcdef').toString('base64');
    const got: unknown[] = [];
    answer = (body, headers) => {
      got.push(new Webhook(secret).verify(body.toString(), headers));
      return 204;
    };
    const anchor = webhookAnchor({ clock: { nowMs: () => Date.now() }, production: false }, url, secret);
    await keep('acme', 1);
    const newest = await keep('acme', 5);
    const other = await keep('globex', 2);

    await publish(anchor);
    await publish(anchor);
    expect(got).toHaveLength(2);
    expect(got).toEqual(expect.arrayContaining([newest, other]));
    const next = await keep('acme', 9);
    await publish(anchor);

    expect(got[2]).toEqual(next);
    expect(failures).toEqual([]);
  });

  it('webhook: a failure is reported, and the next round publishes what is then the newest', async () => {
    const got: string[] = [];
    let status = 500;
    answer = (body) => {
      if (status === 200) got.push(body.toString());
      return status;
    };
    const anchor = webhookAnchor({ clock: { nowMs: () => Date.now() }, production: false }, url, undefined);
    await keep('acme', 1);

    await publish(anchor);
    expect(failures.map(String)).toEqual(['Error: the receiver of checkpoints answered 500']);
    status = 200;
    const newest = await keep('acme', 2);
    await publish(anchor);
    expect(got.map((text) => JSON.parse(text) as unknown)).toEqual([newest]);
  });

  it('TSA: a token that openssl verifies over the canonical checkpoint', async () => {
    answer = (body, headers) => {
      expect(headers['content-type']).toBe('application/timestamp-query');
      return authority.reply(body);
    };
    const anchor = timestampAnchor({ production: true, store: use.store.audit }, url, [authority.ca]);
    const taken = await keep('acme', 3);

    await publish(anchor);

    expect(failures).toEqual([]);
    const [listed] = (await listTimestamps({ store: use.store }, person('ann'), {})).items;
    expect(listed).toMatchObject({ seq: 3, at: expect.stringMatching(/^\d{4}-/), checkpoint: taken });
    const { token = '', checkpoint: signed } = listed ?? {};
    expect(authority.verifies(Buffer.from(token, 'base64'), Buffer.from(canonicalJson(signed)))).toBe(true);
  });

  it('TSA: answers for other bytes, another nonce, from another authority, or that are no tokens are refused', async () => {
    const request = buildTimestampRequest(Buffer.from('checkpoint'));
    const reply = authority.reply(request.der);
    const other = buildTimestampRequest(Buffer.from('another'));
    const again = buildTimestampRequest(Buffer.from('checkpoint'));
    const stranger = createAuthority();
    const strange = stranger.reply(request.der);
    stranger.remove();

    await expect(readTimestamp(reply, request, [authority.ca])).resolves.toMatchObject({ at: expect.any(String) });
    await expect(readTimestamp(reply, { ...other, nonce: request.nonce }, [])).rejects.toThrow('of other bytes');
    await expect(readTimestamp(reply, again, [])).rejects.toThrow('another nonce');
    await expect(readTimestamp(strange, request, [authority.ca])).rejects.toThrow('does not verify');
    await expect(readTimestamp(strange, request, [])).resolves.toBeDefined();
    for (const broken of [Buffer.from('no token'), Buffer.alloc(0), reply.subarray(0, 100)])
      await expect(readTimestamp(broken, request, [])).rejects.toThrow('not a timestamp');
    const refusal = authority.reply(Buffer.from(request.der.toString('hex').replace('608648016503040201', '608648016503040202'), 'hex'));
    await expect(readTimestamp(refusal, request, [])).rejects.toThrow('refused the request with status 2');
  }); // prettier-ignore

  it('TSA: a checkpoint whose timestamp was altered is not kept', async () => {
    answer = (body) => {
      const reply = authority.reply(body);
      reply[reply.length - 5] = (reply[reply.length - 5] ?? 0) ^ 1;
      return reply;
    };
    await keep('acme', 3);

    await publish(timestampAnchor({ production: true, store: use.store.audit }, url, [authority.ca]));

    expect(failures).toHaveLength(1);
    expect(await use.store.redis.exists(keys.auditTimestamps('acme'))).toBe(0);
  });
});
