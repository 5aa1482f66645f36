import { admit, cooldownMs, freshBreaker, settle, type BreakerRecord } from './breaker';
import { breakerStates, openMs } from './breaker.states';

const start = 1_000_000;

const fail = (record: BreakerRecord, atMs: number, call: 'normal' | 'probe' = 'normal') =>
  settle(record, call, 'failed', atMs);
const opened = [0, 1, 2].reduce((record, i) => fail(record, start + i), freshBreaker);

describe('the circuit breaker', () => {
  it('opens at the third failure within 30 s, not before', () => {
    const two = fail(fail(freshBreaker, start), start + 10_000);

    expect(two).toMatchObject({ state: 'closed', failures: 2 });
    expect(fail(two, start + openMs - 1)).toMatchObject({ state: 'open' });
    expect(fail(two, start + openMs)).toMatchObject({ state: 'closed', failures: 1 });
  });

  it('successes do not reset the failure count', () => {
    const two = fail(fail(freshBreaker, start), start + 1);

    const after = settle(two, 'normal', 'answered', start + 2);

    expect(fail(after, start + 3).state).toBe('open');
  });

  it('rejects calls for 30 s after it opened, then permits probes', () => {
    const openedMs = opened.sinceMs;

    expect(admit(opened, openedMs + openMs - 1).kind).toBe('refused');
    expect(cooldownMs(opened, openedMs + 10_000)).toBe(20_000);
    expect(admit(opened, openedMs + openMs)).toMatchObject({
      kind: 'probe',
      record: { state: 'half_open', probes: 1 },
    });
  });

  it('half-open: permits three concurrent probes', () => {
    const kinds: string[] = [];
    let record = opened;
    for (let i = 0; i < 4; i++) {
      const admission = admit(record, start + openMs + 100);
      kinds.push(admission.kind);
      record = admission.record;
    }

    expect(kinds).toEqual(['probe', 'probe', 'probe', 'refused']);
    expect(admit(record, record.sinceMs + openMs).kind).toBe('probe');
  });

  it('closes after two successful probes', () => {
    const probing = admit(admit(opened, start + openMs + 5).record, start + openMs + 5).record;

    const once = settle(probing, 'probe', 'answered', start + openMs + 6);
    const twice = settle(once, 'probe', 'answered', start + openMs + 7);

    expect(once).toMatchObject({ state: 'half_open', successes: 1, probes: 1 });
    expect(twice).toMatchObject({ state: 'closed', failures: 0, successes: 0, probes: 0 });
  });

  it('a failed probe opens it again for 30 s', () => {
    const atMs = start + openMs + 5;
    const probing = settle(admit(admit(opened, atMs).record, atMs).record, 'probe', 'answered', atMs);

    const again = fail(probing, atMs + 1, 'probe');

    expect(again).toMatchObject({ state: 'open', sinceMs: atMs + 1 });
    expect(admit(again, atMs + openMs).kind).toBe('refused');
  });

  it('ignores outcomes of calls from before the last transition', () => {
    const probing = admit(opened, start + openMs + 5).record;

    expect(fail(opened, start + 5)).toBe(opened);
    expect(settle(probing, 'normal', 'answered', start + openMs + 6)).toBe(probing);
    expect(fail(probing, start + openMs + 6)).toBe(probing);
  });

  it('follows its transition table', () => {
    expect(breakerStates.states.sort()).toEqual(['closed', 'half_open', 'open']);
    expect(breakerStates.next('closed', 'recover')).toBeUndefined();
  });
});
