import { useConfig } from './config.testing';
import { EffectiveConfig } from './effective-config';

const use = useConfig();
const place = { tenant: 'acme', team: 'dock' };

describe('config cached by a service', () => {
  it('is read once, and again after a change notice', async () => {
    const { config } = use.replica();
    await use.given('org', 'acme', { a: 1 });
    expect(await config.at(place)).toEqual({ a: 1 });
    await use.given('org', 'acme', { a: 2 });

    expect(await config.at(place)).toEqual({ a: 1 });
    config.changed();
    expect(await config.at(place)).toEqual({ a: 2 });
  });

  it('is read again after 30 s when the notice was lost', async () => {
    const { config } = use.replica();
    await use.given('org', 'acme', { a: 1 });
    await config.at(place);
    await use.given('org', 'acme', { a: 2 });

    use.time.nowMs += 29_999;
    expect(await config.at(place)).toEqual({ a: 1 });
    use.time.nowMs += 1;
    expect(await config.at(place)).toEqual({ a: 2 });
  });

  it('is read again after the interval set by the service', async () => {
    const { clock } = use.replica();
    const config = new EffectiveConfig(use.store, clock, 5_000);
    await use.given('org', 'acme', { a: 1 });
    await config.at(place);
    await use.given('org', 'acme', { a: 2 });

    use.time.nowMs += 4_999;
    expect(await config.at(place)).toEqual({ a: 1 });
    use.time.nowMs += 1;
    expect(await config.at(place)).toEqual({ a: 2 });
  });

  it('is read again when a notice arrives during the read', async () => {
    const { config } = use.replica();
    await use.given('org', 'acme', { a: 1 });
    const reading = config.at(place);
    config.changed();
    await reading;
    await use.given('org', 'acme', { a: 2 });

    expect(await config.at(place)).toEqual({ a: 2 });
  });

  it('of one tenant stays cached when another tenant requests many teams', async () => {
    const { config } = use.replica();
    await use.given('org', 'acme', { a: 1 });
    await config.at(place);

    const teams = Array.from({ length: 10_002 }, (_, i) => ({ tenant: 'globex', team: `t${i}` }));
    await Promise.all(teams.map((other) => config.at(other)));

    await use.given('org', 'acme', { a: 2 });
    expect(await config.at(place)).toEqual({ a: 1 });
  });

  it('is empty when no document sets anything, and excludes the installation’s tables', async () => {
    const { config } = use.replica();
    expect(await config.textAt(place)).toBe('{}');
    await use.given('system', 'default', { pools: {}, timeouts: {}, _poolsFileHash: 'x', _timeoutsFileHash: 'y' });
    config.changed();
    expect(await config.textAt(place)).toBe('{}');

    await use.given('org', 'acme', { a: 1 });
    config.changed();
    expect(await config.textAt(place)).toBe('{"a":1}');
  });
});
