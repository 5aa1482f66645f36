import { MAX_TICKET_BYTES, openResultTickets, type ResultTicket } from './result-ticket';

const secret = 's1'.repeat(20);
const nowMs = 1_700_000_000_000;
const ticket: ResultTicket = {
  jobId: 'j',
  dispatchId: 'd',
  workerId: 'w',
  tenant: 'acme',
  topic: 'job.pay',
  principal: 'ann',
  labels: { team: 'harbour' },
  riskTags: ['money'],
};
const bearer = { jobId: 'j', dispatchId: 'd', workerId: 'w' };
const tickets = openResultTickets([secret]);
const seal = (from = tickets, of: ResultTicket = ticket) => {
  const sealed = from.seal(of, nowMs + 60_000);
  if (!sealed) throw new Error('too large');
  return sealed;
};

describe('the ticket of a dispatch', () => {
  it('is opened by every process with the secret, until it expires', () => {
    const sealed = seal();
    const other = openResultTickets([secret]);

    // Twice: the key of a salt is derived the first time and remembered.
    for (const one of [tickets, other, other]) expect(one.open(sealed, bearer, nowMs)).toEqual(ticket);
    expect(tickets.open(sealed, bearer, nowMs + 60_001)).toBeUndefined();
  });

  it('shows a worker nothing, and no two are equal', () => {
    const [one, two] = [seal(), seal()];

    expect(Buffer.from(one).toString('latin1')).not.toMatch(/acme|job\.pay|ann|money/);
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
    expect(tickets.open(seal(openResultTickets(['x'.repeat(40)])), bearer, nowMs)).toBeUndefined();
  });

  it('survives a rotation while the old secret is listed', () => {
    const sealed = seal();
    const rotated = openResultTickets(['n'.repeat(40), secret]);

    expect(rotated.open(sealed, bearer, nowMs)).toEqual(ticket);
    expect(rotated.open(seal(rotated), bearer, nowMs)).toEqual(ticket);
    expect(tickets.open(seal(rotated), bearer, nowMs)).toBeUndefined();
  });

  it('is not issued above the limit, and not read either', () => {
    const large = { ...ticket, labels: { text: 'x'.repeat(MAX_TICKET_BYTES) } };

    expect(tickets.seal(large, nowMs)).toBeUndefined();
    expect(tickets.open(new Uint8Array(MAX_TICKET_BYTES + 1).fill(1), bearer, nowMs)).toBeUndefined();
    expect(seal(tickets, { ...ticket, labels: { text: 'x'.repeat(MAX_TICKET_BYTES - 400) } })).toBeDefined();
  });

  it('is opened after a flood of tickets with invented salts', () => {
    const sealed = seal();
    for (let n = 0; n < 1_000; n++) {
      const forged = Buffer.from(sealed);
      forged.writeUInt32BE(n, 1);
      expect(tickets.open(forged, bearer, nowMs)).toBeUndefined();
    }

    expect(tickets.open(sealed, bearer, nowMs)).toEqual(ticket);
  });
});
