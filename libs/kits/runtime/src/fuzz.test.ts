import { fuzzed, fuzzTimeoutMs, hostileJson, hostileText } from '@svc/testing';
import fc from 'fast-check';
import { Writable } from 'node:stream';
import {
  apiEnv,
  engineEnv,
  EnvError,
  envReport,
  kernelEnv,
  readEnv,
  schedulerEnv,
  type EnvSpec,
  type Variables,
} from './env';
import { maskValues, openLogger } from './logger';

jest.setTimeout(fuzzTimeoutMs());

const odd = ['true', '1s', '5m', '-1s', '99999999999999999999', '1e3', '0.5', 'redis://u:p@h:1/0', 'redis://%', 'nats://[::1', 'tls://h', 'http://%zz:%zz@h', ':8080', '127.0.0.1:99999', '[::1]:80', 'a,b,,c', '{', '[]', '[{}]', '{"a":', '../x', '/etc/passwd', 'enforce', 'PRODUCTION']; // prettier-ignore
const value = fc.oneof(fc.constantFrom(...odd), hostileText);

const specs: readonly [string, EnvSpec<Variables>][] = [apiEnv, schedulerEnv, kernelEnv, engineEnv].map((spec) => [
  spec.service,
  spec as unknown as EnvSpec<Variables>, // each spec's rules know only its own table, which is what they are given here
]);
const getNames = ({ variables }: EnvSpec<Variables>): string[] =>
  Object.values(variables).flatMap((variable) => [
    variable.name.replace(/<.*>/, 'X'),
    ...(variable.aliases ?? []),
    ...(variable.type === 'duration' && variable.secondsName ? [variable.secondsName] : []),
  ]);

/** Reads it as a start of the service would; only the one error may come of it. */
function read(spec: EnvSpec<Variables>, source: Record<string, string>, production: boolean): void {
  try {
    const { values, effective, warnings } = readEnv(spec, source, { production });
    expect(values['production']).toBe(production);
    expect(envReport({ effective })).not.toBe('');
    for (const { name, expected } of warnings) expect([name, expected]).not.toContain('');
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    expect(error.problems.length).toBeGreaterThan(0);
    for (const { name, fix } of error.problems) expect([name, fix]).not.toContain('');
  }
}

describe('an environment', () => {
  it.each(specs)('of %s with hostile values is read, or rejected by variable', (_service, spec) => {
    const source = fc.dictionary(fc.constantFrom(...getNames(spec)), value, { maxKeys: 12 });

    fc.assert(
      fc.property(source, fc.boolean(), (given, production) => read(spec, given, production)),
      fuzzed(300),
    );
  });

  it.each(specs)('of %s never shows a secret, valid or not', (_service, spec) => {
    const canary = 'canary-7Qm2Zx9Rf4Wb8Tn6Vc3Yd';
    const secret = Object.values(spec.variables).filter((variable) => variable.secret && variable.type !== 'family');
    const source = Object.fromEntries(secret.map(({ name }) => [name, canary]));

    for (const production of [true, false]) expect(renderReport(spec, source, production)).not.toContain(canary);
  });

  it.each(specs)('of %s never shows a password in a URL', (_service, spec) => {
    const canary = 'canary-7Qm2Zx9Rf4Wb8Tn6Vc3Yd';
    const urls = Object.values(spec.variables).filter(({ type }) => type === 'url');
    const forms = [
      `redis://user:${canary}@host:6379`,
      `redis://:${canary}@host`,
      `user:${canary}@host`,
      `redis//user:${canary}@h`,
    ];

    for (const form of forms) {
      const source = Object.fromEntries(urls.map(({ name }) => [name, form]));
      for (const production of [true, false]) expect(renderReport(spec, source, production)).not.toContain(canary);
    }
  });
});

/** Everything an operator is shown of an environment. */
function renderReport(spec: EnvSpec<Variables>, source: Record<string, string>, production: boolean): string {
  try {
    const { effective, warnings } = readEnv(spec, source, { production });
    return envReport({ effective }) + JSON.stringify(warnings);
  } catch (error) {
    return String(error);
  }
}

describe('a log line', () => {
  const lines: string[] = [];
  const to = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const issued = 'issued-secret-of-this-process';
  const open = (format: 'text' | 'json') =>
    openLogger({
      component: 'c',
      level: 'debug',
      format,
      clock: { nowMs: () => 0 },
      maskers: [maskValues([issued])],
      to,
    });

  it.each(['text', 'json'] as const)('in %s is one line for any value, and never throws', (format) => {
    const log = open(format);
    const field = fc.oneof(
      hostileJson,
      hostileText.map((text) => new Error(text)),
      fc.bigInt(),
      fc.date(),
      fc.constant(undefined),
    );

    fc.assert(
      fc.property(hostileText, fc.dictionary(hostileText, field, { maxKeys: 4 }), (message, fields) => {
        lines.length = 0;
        log.error(message, fields);
        expect(lines).toHaveLength(1);
        expect(lines[0]?.trimEnd()).not.toMatch(/[\r\n\u2028\u2029]/);
        if (format === 'json') expect(JSON.parse(lines[0] ?? '')).toMatchObject({ component: 'c', level: 'error' });
      }),
      fuzzed(500),
    );
  });

  it('never prints a secret of the process, at any position', () => {
    const log = open('json');
    const wrap = fc.constantFrom<(text: string) => unknown>(
      (text) => text,
      (text) => ({ a: { b: [text] } }),
      (text) => new Error('outer', { cause: new Error(text) }),
      (text) => new AggregateError([new Error(text)]),
      (text) => ({ [text]: 1 }),
    );

    fc.assert(
      fc.property(hostileText, wrap, hostileText, (before, wrapped, after) => {
        lines.length = 0;
        log.error(`${before}${issued}`, { field: wrapped(`${before}${issued}${after}`) });
        expect(lines.join('')).not.toContain(issued);
      }),
      fuzzed(500),
    );
  });
});
