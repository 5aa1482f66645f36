import { HandshakeRate, handshakeRates } from './handshake-rate';

const { worker, all } = handshakeRates;

describe('the rate of handshake steps in a process', () => {
  let nowMs: number;
  let rate: HandshakeRate;
  beforeEach(() => {
    nowMs = 1_000;
    rate = new HandshakeRate({ nowMs: () => nowMs });
  });
  const count = (steps: number, id: string) =>
    Array.from({ length: steps }, () => rate.allows(id)).filter(Boolean).length;

  it('is bounded for each worker, and for all senders without a credential together', () => {
    for (const id of ['w1', 'w2', '']) expect(count(100, id)).toBe(worker.burst);

    nowMs += 2_000;
    expect(count(100, 'w1')).toBe(2 * worker.perSecond);
  });

  it('is bounded for all workers together', () => {
    const sent = Array.from({ length: 100 }, (_, i) => count(worker.burst, `w${i}`));

    expect(sent.reduce((a, b) => a + b)).toBe(all.burst);
  });
});
