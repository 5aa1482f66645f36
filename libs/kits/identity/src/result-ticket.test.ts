import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_TICKET_BYTES, openResultTickets } from './result-ticket';
import { resultTicketsFrom } from './result-ticket-keys';

const secret = 's1'.repeat(20);
const nowMs = 1_700_000_000_000;
interface Facts {
  tenant: string;
  topic: string;
  labels: Record<string, string>;
  riskTags: string[];
}
const facts: Facts = { tenant: 'acme', topic: 'job.pay', labels: { team: 'harbour' }, riskTags: ['money'] };
const bearer = { jobId: 'j', dispatchId: 'd', workerId: 'w' };
const tickets = openResultTickets<Facts>([secret]);
const seal = (from = tickets, of = facts) => {
  const sealed = from.seal(bearer, of, nowMs + 60_000);
  if (!sealed) throw new Error('too large');
  return sealed;
};

describe('the ticket of a dispatch', () => {
  it('is opened by every process with the secret, until it expires', () => {
    const sealed = seal();
    const other = openResultTickets<Facts>([secret]);

    // Twice: the key of a salt is derived the first time and remembered.
    for (const one of [tickets, other, other]) expect(one.open(sealed, bearer, nowMs)).toEqual(facts);
    expect(tickets.open(sealed, bearer, nowMs + 60_001)).toBeUndefined();
  });

  it('shows a worker nothing, and no two are equal', () => {
    const [one, two] = [seal(), seal()];

    expect(Buffer.from(one).toString('latin1')).not.toMatch(/acme|job\.pay|harbour|money/);
    expect(one).not.toEqual(two);
    // Equal nonces would reveal the difference of two tickets.
    expect(Buffer.from(one).subarray(17, 29)).not.toEqual(Buffer.from(two).subarray(17, 29));
  });

  it('is refused if any byte is changed, removed or added', () => {
    const sealed = seal();
    for (let i = 0; i < sealed.length; i++) {
      const changed = Buffer.from(sealed);
      changed[i] = (changed[i] ?? 0) ^ 1;
      expect(tickets.open(changed, bearer, nowMs)).toBeUndefined();
      expect(tickets.open(sealed.subarray(0, i), bearer, nowMs)).toBeUndefined();
    }
    expect(tickets.open(Buffer.concat([sealed, Buffer.of(0)]), bearer, nowMs)).toBeUndefined();
  });

  it.each([
    ['job', { jobId: 'j2' }],
    ['dispatch', { dispatchId: 'd2' }],
    ['worker', { workerId: 'w2' }],
  ])('is refused for another %s', (_, other) => {
    expect(tickets.open(seal(), { ...bearer, ...other }, nowMs)).toBeUndefined();
  });

  it('is refused when it was sealed with another secret', () => {
    expect(tickets.open(seal(openResultTickets<Facts>(['x'.repeat(40)])), bearer, nowMs)).toBeUndefined();
  });

  it('survives a rotation while the old secret is listed', () => {
    const sealed = seal();
    const rotated = openResultTickets<Facts>(['n'.repeat(40), secret]);

    expect(rotated.open(sealed, bearer, nowMs)).toEqual(facts);
    expect(rotated.open(seal(rotated), bearer, nowMs)).toEqual(facts);
    expect(tickets.open(seal(rotated), bearer, nowMs)).toBeUndefined();
  });

  it('is not issued above the limit, and not read either', () => {
    const large = { ...facts, labels: { text: 'x'.repeat(MAX_TICKET_BYTES) } };

    expect(tickets.seal(bearer, large, nowMs)).toBeUndefined();
    expect(tickets.open(new Uint8Array(MAX_TICKET_BYTES + 1).fill(1), bearer, nowMs)).toBeUndefined();
    expect(seal(tickets, { ...facts, labels: { text: 'x'.repeat(MAX_TICKET_BYTES - 400) } })).toBeDefined();
  });

  it('is opened after a flood of tickets with invented salts', () => {
    const sealed = seal();
    for (let n = 0; n < 1_000; n++) {
      const forged = Buffer.from(sealed);
      forged.writeUInt32BE(n, 1);
      expect(tickets.open(forged, bearer, nowMs)).toBeUndefined();
    }

    expect(tickets.open(sealed, bearer, nowMs)).toEqual(facts);
  });
});

describe('the keys of tickets', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-ticket-keys-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'keys');
  const second = 'n'.repeat(40);
  const fromFile = (text: string) => {
    writeFileSync(path, text);
    return resultTicketsFrom<Facts>({ resultTicketKeys: [], resultTicketKeysPath: path });
  };

  it('are read from the environment or a file, whose first key encrypts', () => {
    const fromEnv = resultTicketsFrom<Facts>({ resultTicketKeys: [second, secret], resultTicketKeysPath: undefined });

    for (const one of [fromEnv, fromFile(`${second}\n${secret}\n`), fromFile(`${second}, ${secret}`)]) {
      expect(one?.open(seal(), bearer, nowMs)).toEqual(facts);
      expect(openResultTickets<Facts>([second]).open(seal(one), bearer, nowMs)).toEqual(facts);
    }
    expect(resultTicketsFrom({ resultTicketKeys: [], resultTicketKeysPath: undefined })).toBeUndefined();
  });

  it('prevent startup when one is too short, and the message does not quote it', () => {
    expect(() => fromFile(`${secret}\nshort-one`)).toThrow(/^(?!.*short-one).*at least 32 characters/s);
    expect(() => fromFile('')).toThrow(/at least 32 characters/);
  });
});
