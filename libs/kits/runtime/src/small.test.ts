import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { formatAddress, metricsBinding, parseAddress } from './address';
import { readBuildInfo } from './build-info';
import { systemClock } from './clock';
import { formatDuration, parseDuration } from './duration';
import { randomIds } from './ids';

describe('durations', () => {
  it.each([
    ['500ms', 500], ['30s', 30_000], ['10m', 600_000], ['24h', 86_400_000], ['7d', 604_800_000], ['0', 0], ['1.5h', 5_400_000],
  ])('reads %s', (text, ms) => expect(parseDuration(text)).toBe(ms)); // prettier-ignore

  it.each(['', '5', '-1s', '1w', '1h30m', ' 1s', '1 s', '1e3s', 'NaNs', '999999999999999d'])('rejects %j', (text) =>
    expect(parseDuration(text)).toBeUndefined(),
  );

  it('formatted durations parse to the same value', () => {
    fc.assert(fc.property(fc.nat(1e12), (ms) => parseDuration(formatDuration(ms)) === ms));
  });
});

describe('addresses', () => {
  it.each([
    [':8081', { host: '', port: 8081 }],
    ['localhost:50051', { host: 'localhost', port: 50051 }],
    ['[::1]:80', { host: '::1', port: 80 }],
  ])('%s parses and formats to the same text', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
    expect(formatAddress(address)).toBe(text);
  });

  it.each(['8081', ':65536', '::1:80', '[nope]:80', 'a b:1', 'http://x:80', ''])('rejects %j', (text) =>
    expect(parseAddress(text)).toBeUndefined(),
  );

  it('binds metrics to loopback in production unless made public', () => {
    const bind = (production: boolean, open: boolean) =>
      metricsBinding({ host: '', port: 9 }, { production, open }).host;

    expect([bind(true, false), bind(true, true), bind(false, false)]).toEqual(['127.0.0.1', '', '']);
  });
});

describe('the clock', () => {
  it('never returns the same microsecond twice', () => {
    const clock = systemClock();

    const times = Array.from({ length: 20_000 }, () => clock.nowUs());

    expect(times.every((time, i) => i === 0 || time > (times[i - 1] ?? 0))).toBe(true);
  });

  it('stays monotonic when the system clock stalls or is set back', () => {
    const bigint = jest.spyOn(process.hrtime, 'bigint').mockReturnValue(0n);
    const now = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
    const clock = systemClock();

    const before = [clock.nowUs(), clock.nowUs()];
    now.mockReturnValue(400_000);
    const after = [clock.nowUs(), clock.nowUs()];

    expect([...before, ...after]).toEqual([1_000_000_000, 1_000_000_001, 1_000_000_002, 1_000_000_003]);
    bigint.mockRestore();
    now.mockRestore();
  });

  it('an abort ends a sleep without an error', async () => {
    const stop = new AbortController();

    const slept = systemClock().sleep(3_600_000, stop.signal);
    stop.abort();

    await expect(slept).resolves.toBeUndefined();
  });
});

it('generates ids in the requested format', () => {
  expect(randomIds().uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(randomIds().hex(8)).toMatch(/^[0-9a-f]{16}$/);
});

describe('build info', () => {
  it('uses the version of the nearest package.json that has one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'build-'));
    writeFileSync(join(folder, 'package.json'), '{"version":"4.5.6"}');

    expect(readBuildInfo({}, join(folder, 'dist', 'deep'))).toEqual({
      version: '4.5.6',
      commit: 'unknown',
      date: '',
      protocol: 1,
    });
    rmSync(folder, { recursive: true });
  });

  it('uses values set by the build', () => {
    const given = { SVC_BUILD_VERSION: '9.0.0', SVC_BUILD_COMMIT: 'abc', SVC_BUILD_DATE: '2026-11-21T00:00:00Z' };

    expect(readBuildInfo(given, '/')).toEqual({
      version: '9.0.0',
      commit: 'abc',
      date: '2026-11-21T00:00:00Z',
      protocol: 1,
    });
  });
});
