import { redactText } from '@svc/scanning';
import { Writable } from 'node:stream';
import { openLogger, type LoggerOptions } from './logger';
import { maskValues } from './redact';

function logTo(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const to = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(...chunk.toString().split('\n').slice(0, -1));
      done();
    },
  });
  const time = { nowMs: Date.UTC(2026, 0, 2) };
  const log = openLogger({
    component: 'gateway',
    level: 'info',
    format: 'json',
    clock: { nowMs: () => time.nowMs },
    to,
    ...options,
  });
  const json = (): Record<string, unknown>[] => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { log, lines, json, time };
}

describe('a log line', () => {
  it('text: component, level, message, fields', () => {
    const { log, lines } = logTo({ format: 'text' });

    log.info('job dispatched', { job_id: 'j1', topic: 'job.a', attempt: 2, reason: 'two words', labels: { a: 'b' } });

    expect(lines).toEqual([
      '[GATEWAY] INFO job dispatched job_id=j1 topic=job.a attempt=2 reason="two words" labels="{\\"a\\":\\"b\\"}"',
    ]);
  });

  it('json: one object with time, level, msg and component, which fields cannot overwrite', () => {
    const { log, json } = logTo();

    log.warn('slow', { level: 'forged', duration_ms: 7 });

    expect(json()).toEqual([
      { time: '2026-01-02T00:00:00.000Z', level: 'warn', msg: 'slow', component: 'gateway', duration_ms: 7 },
    ]);
  });

  it('is written only at or above the configured level', () => {
    const { log, json } = logTo({ level: 'warn' });

    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');

    expect(json().map(({ msg }) => msg)).toEqual(['c', 'd']);
  });

  it.each(['text', 'json'] as const)('%s: external text cannot start a new line', (format) => {
    const { log, lines } = logTo({ format });
    const forged = 'x\n[GATEWAY] ERROR forged\r\u2028\u001b[2K\u0085';

    log.child({ ['bad\nkey']: 1 }).info(forged, { reason: forged, nested: { a: [forged] }, error: new Error(forged) });

    expect(lines).toHaveLength(1);
    // eslint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(lines[0]).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028]/);
  });

  it('includes the fields of its logger', () => {
    const { log, json } = logTo();

    log.child({ request_id: 'r' }).child({ tenant: 't' }).info('m', { tenant: 'u' });

    expect(json()[0]).toMatchObject({ request_id: 'r', tenant: 'u' });
  });

  it('writes an error with its causes, and its stack on the same line', () => {
    const { log, json, lines } = logTo();

    log.error('failed', { error: new Error('outer', { cause: new TypeError('inner') }) });

    expect(lines).toHaveLength(1);
    expect(json()[0]).toMatchObject({
      error: 'Error: outer (caused by TypeError: inner)',
      stack: expect.stringMatching(/^at /),
    });
  });

  it('handles fields that are cyclic, huge, or not plain data', () => {
    const { log, json } = logTo();
    const loop: Record<string, unknown> = {};
    loop.self = loop;

    log.info('m', {
      loop,
      long: 'x'.repeat(10_000),
      bytes: Buffer.from('abc'),
      big: 5n,
      when: new Date(NaN),
      none: undefined,
      fn: () => 1,
    });

    expect(json()[0]).toMatchObject({ bytes: '[3 bytes]', big: '5', when: 'invalid date' });
    expect(String(json()[0]?.long).length).toBeLessThan(5_000);
  });
});

describe('a secret is masked', () => {
  const secrets: [string, Record<string, unknown>][] = [
    ['under a secret key', { password: 'hunter2' }],
    ['under a secret key, deep', { request: { headers: { 'X-Api-Key': 'hunter2', Authorization: 'hunter2' } } }],
    ['in a URL', { url: 'rediss://user:hunter2@redis:6379' }],
    ['as a bearer', { reason: 'sent Bearer hunter2hunter2' }],
    ['as a JWT', { reason: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.hunter2' }],
    ['as a session', { reason: `session-hunter2${'a'.repeat(36)}` }],
    ['in an error', { error: new Error('connect redis://u:hunter2@h failed') }],
    ['as a secret of this process', { reason: 'the value is hunter2-configured' }],
    ['in the name of a field', { map: { 'hunter2-configured': 1 } }],
  ];

  const prefixes = ['AKIA', 'ASIA', 'AROA', 'AIDA', 'AGPA', 'ANPA', 'ANVA', 'ABIA', 'ACCA'];

  it.each(prefixes)('as a cloud access key that begins with %s, with the pattern that scans use', (prefix) => {
    const key = `${prefix}IOSFODNN7REALKEY`;
    const { log, json } = logTo();

    for (const text of [key, `${key}2`, `${prefix}0000000000000000`]) log.error('failed', { reason: text });

    const reasons = [key, `${key}2`, `${prefix}0000000000000000`].map((text) => redactText(text));
    expect(json().map(({ reason }) => reason)).toEqual(reasons);
    expect(reasons[0]).toBe('[REDACTED]');
  });

  it.each([
    ['a private key', `-----BEGIN ${'PGP'} PRIVATE KEY BLOCK-----\nhunter2\n-----END PGP PRIVATE KEY BLOCK-----`],
    ['a token that was cut short', `ghp${'_'}hunter2hunter2hunter2`],
    ['an encrypted JSON web token', 'eyJhbGciOiJSU0EtT0FFUCJ9.hunter2hunter2.hunter2.x.y'],
  ])('as %s', (_what, reason) => {
    const { log, lines } = logTo();

    log.error('failed', { reason });

    expect(lines.join('')).not.toContain('hunter2hunter2');
    expect(lines.join('')).toContain('[REDACTED]');
  });

  it.each(secrets)('%s', (_where, fields) => {
    const { log, lines } = logTo({ maskers: [maskValues(['hunter2-configured'])] });

    log.error('message token=hunter2', fields);

    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain('hunter2');
    expect(lines[0]).not.toContain('odW50ZXIy');
  });
});

describe('oncePer', () => {
  it('writes once per period and key, with the number of suppressed lines', () => {
    const { log, json, time } = logTo();
    const packet = (worker: string) => log.oncePer(worker, 60_000).warn('bad packet', { worker_id: worker });

    packet('w1');
    packet('w1');
    packet('w2');
    packet('w1');
    time.nowMs += 60_000;
    packet('w1');

    expect(json().map(({ worker_id, suppressed }) => [worker_id, suppressed])).toEqual([['w1', undefined], ['w2', undefined], ['w1', 2]]); // prettier-ignore
  });
});
