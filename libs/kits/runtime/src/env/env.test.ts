import { apiEnv } from './api';
import { envSpec, variables } from './declare';
import { envHelp, envReport, envTable } from './describe';
import { engineEnv } from './engine';
import { envFindings, exposedListeners } from './exposed';
import { kernelEnv } from './kernel';
import { parseValue } from './parse';
import { EnvError } from './problem';
import { isProduction, readEnv } from './read';
import { schedulerEnv } from './scheduler';
import { findWeakness } from './secret-strength';

const strongKey = 'k7Qm2-Zx9Rf4Wb8Tn6Vc3Yd5Hj1Lp0Sg';
const sample = envSpec({
  service: 'sample',
  variables: variables({
    limit: { name: 'LIMIT', type: 'int', min: 1, default: '5', doc: 'A limit.' },
    waitMs: { name: 'WAIT', secondsName: 'WAIT_TTL_SECONDS', type: 'duration', default: '24h', doc: 'A wait.' },
    keepSec: { name: 'KEEP_TTL_SECONDS', type: 'int', default: '60', doc: 'Seconds.' },
    mode: { name: 'MODE', type: 'enum', choices: ['off', 'on'], spellings: { true: 'on' }, default: 'off', productionDefault: 'on', doc: 'A mode.' },
    origins: { name: 'ORIGINS', aliases: ['OLD_ORIGINS'], type: 'list', doc: 'Origins.' },
    key: { name: 'KEY', type: 'string', secret: true, doc: 'A key.' },
    port: { name: 'ADDR', type: 'address', secret: true, doc: 'An address.' },
    url: { name: 'URL', type: 'url', requiredInProduction: true, default: 'redis://localhost', doc: 'A place.' },
    trusted: { name: 'TRUST_<ID>', type: 'family', doc: 'Keys.' },
  }),
  rules: [({ limit, waitMs }) => (limit * 1_000 > waitMs ? [{ name: 'LIMIT', expected: 'less than WAIT', fix: 'Lower it.' }] : [])],
}); // prettier-ignore
const dev = { production: false };
const prod = { production: true };
const readProblems = (read: () => unknown) => {
  try {
    read();
  } catch (error) {
    if (error instanceof EnvError) return error.problems.map(({ name }) => name);
    throw error;
  }
  return [];
};

describe('readEnv', () => {
  it('returns typed, frozen defaults', () => {
    const { values } = readEnv(sample, {}, dev);

    expect(values).toEqual({
      production: false, limit: 5, waitMs: 86_400_000, keepSec: 60, mode: 'off', origins: [], key: undefined, port: undefined,
      url: 'redis://localhost', trusted: {},
    }); // prettier-ignore
    expect(Object.isFrozen(values)).toBe(true);
  });

  it('reads every type, aliases, families and durations in seconds', () => {
    const source = {
      LIMIT: '7', WAIT: '1h', WAIT_TTL_SECONDS: '90', KEEP_TTL_SECONDS: '30', MODE: 'TRUE', OLD_ORIGINS: 'a, b,', ADDR: ':1',
      URL: 'rediss://r', TRUST_A: 'x', TRUST_: 'y',
    }; // prettier-ignore

    const { values } = readEnv(sample, source, dev);

    expect(values).toMatchObject({
      limit: 7,
      waitMs: 90_000,
      keepSec: 30,
      mode: 'on',
      origins: ['a', 'b'],
      port: { host: '', port: 1 },
    });
    expect(values.trusted).toEqual({ A: 'x' });
  });

  it('treats an empty variable as unset', () => {
    expect(readEnv(sample, { LIMIT: '', WAIT: '  ' }, dev)).toMatchObject({ warnings: [], values: { limit: 5 } });
  });

  it('development: warns about an invalid value and uses the default', () => {
    const { values, warnings } = readEnv(sample, { LIMIT: 'many', WAIT: '3 days' }, dev);

    expect(values).toMatchObject({ limit: 5, waitMs: 86_400_000 });
    expect(warnings).toEqual([
      {
        name: 'LIMIT',
        given: '"many"',
        expected: 'a whole number of at least 1',
        fix: 'Correct it or unset it (default 5).',
      },
      expect.objectContaining({ name: 'WAIT', given: '"3 days"' }),
    ]);
  });

  it('production: rejects invalid values, and reports all at once', () => {
    const source = { LIMIT: 'many', WAIT: 'x', MODE: 'maybe', ORIGINS: 'ok' };

    expect(readProblems(() => readEnv(sample, source, prod))).toEqual(['LIMIT', 'WAIT', 'MODE', 'URL']);
  });

  it('a violated rule prevents startup in development too', () => {
    expect(readProblems(() => readEnv(sample, { LIMIT: '100', WAIT: '1s' }, dev))).toEqual(['LIMIT']);
  });

  it('production: uses the production default', () => {
    expect(readEnv(sample, { URL: 'rediss://x' }, prod).values.mode).toBe('on');
  });

  it('shows no secret in problems, warnings or the report', () => {
    const source = { KEY: 'hunter2hunter2', ADDR: 'hunter3hunter3', URL: 'redis://u:hunter4@h' };

    const reading = readEnv(sample, source, dev);

    expect(JSON.stringify(reading.warnings) + envReport(reading)).not.toMatch(/hunter/);
    expect(reading.secrets).toEqual(expect.arrayContaining(['hunter2hunter2', 'hunter4']));
  });
});

describe('isProduction', () => {
  it.each([[{ SVC_ENV: 'production' }], [{ SVC_ENV: 'PROD' }], [{ SVC_PRODUCTION: 'on' }]])('%j is', (source) =>
    expect(isProduction(source)).toBe(true),
  );

  it.each([{}, { SVC_ENV: '' }, { SVC_ENV: 'development' }, { SVC_ENV: 'dev' }])('%j is not', (source) =>
    expect(isProduction(source)).toBe(false),
  );

  it.each(['prod-eu', 'live', 'staging', 'producton'])(
    'SVC_ENV=%s prevents startup, because it is ambiguous',
    (text) => {
      expect(readProblems(() => isProduction({ SVC_ENV: text }))).toEqual(['SVC_ENV']);
      expect(readProblems(() => isProduction({ SVC_ENV: text, SVC_PRODUCTION: 'true' }))).toEqual(['SVC_ENV']);
    },
  );

  it('is never guessed from a misspelled value', () => {
    expect(readProblems(() => isProduction({ SVC_PRODUCTION: 'ture' }))).toEqual(['SVC_PRODUCTION']);
  });
});

describe.each([apiEnv, schedulerEnv, engineEnv, kernelEnv])('the environment of the $service', (spec) => {
  const all = Object.values(spec.variables);

  it('has no required variable in development', () => {
    expect(readEnv(spec as typeof engineEnv, {}, dev).warnings).toEqual([]);
  });

  it('has valid defaults and unique names', () => {
    const unread = all.flatMap((v) =>
      [v.default, v.productionDefault].filter((text) => text !== undefined && parseValue(v, text) === undefined),
    );
    const names = all.flatMap((v) => [v.name, ...(v.aliases ?? [])]);

    expect(unread).toEqual([]);
    expect(names).toHaveLength(new Set(names).size);
  });

  it('listens on loopback in development by default', () => {
    const listeners = all.filter((variable) => variable.type === 'address' && variable.default !== undefined);
    const { values } = readEnv(spec as typeof engineEnv, {}, dev);

    expect(listeners.length).toBeGreaterThan(0);
    expect(listeners.filter((variable) => !('listens' in variable))).toEqual([]);
    expect(exposedListeners(spec as typeof engineEnv, values)).toEqual([]);
    const [first] = listeners;
    const wide = readEnv(spec as typeof engineEnv, { [first?.name ?? '']: ':7000' }, dev).values;
    expect(exposedListeners(spec as typeof engineEnv, wide)).toEqual([`${first?.name}=:7000`]);
  });

  it('is listed completely in the help and in the docs table', () => {
    for (const { name } of all) {
      expect(envHelp(spec as typeof engineEnv)).toContain(name);
      expect(envTable(spec as typeof engineEnv)).toContain(`\`${name}`);
    }
  });

  it('production rejects plaintext and unverified certificates', () => {
    const source = {
      REDIS_URL: 'redis://r:6379',
      NATS_URL: 'nats://n:4222',
      NATS_TLS_INSECURE: '1',
      REDIS_TLS_INSECURE: 'yes',
    };

    const problems = readProblems(() => readEnv(spec as typeof engineEnv, source, prod));

    expect(problems).toEqual(
      expect.arrayContaining(['REDIS_URL', 'NATS_URL', 'NATS_TLS_INSECURE', 'REDIS_TLS_INSECURE']),
    );
  });
});

describe('production', () => {
  const secure = { REDIS_URL: 'rediss://r', NATS_URL: 'tls://n' };
  const gateway = {
    ...secure, SVC_API_KEY: strongKey, GATEWAY_HTTP_TLS_CERT: 'c', GATEWAY_HTTP_TLS_KEY: 'k', GRPC_TLS_CERT: 'c', GRPC_TLS_KEY: 'k',
    SAFETY_POLICY_PUBLIC_KEY: 'p',
  }; // prettier-ignore
  const gatewayProblems = (more: NodeJS.ProcessEnv) =>
    readProblems(() => readEnv(apiEnv, { ...gateway, ...more }, prod));

  it.each<[string, NodeJS.ProcessEnv, string[]]>([
    ['no credentials', {}, ['nats_anonymous', 'redis_anonymous']],
    ['a Redis user without a password', { REDIS_URL: 'rediss://svc@r' }, ['nats_anonymous', 'redis_anonymous']],
    ['credentials in the URLs', { REDIS_URL: 'rediss://svc:pw@r', NATS_URL: 'tls://svc:pw@n' }, []],
    ['passwords', { REDIS_PASSWORD: strongKey, NATS_USERNAME: 'svc', NATS_PASSWORD: 'pw' }, []],
    ['an nkey', { REDIS_PASSWORD: strongKey, NATS_NKEY: 'SU' }, []],
    [
      'client certificates',
      {
        REDIS_TLS_CERT: 'c',
        REDIS_TLS_KEY: 'k',
        NATS_TLS_CERT: 'c',
        NATS_TLS_KEY: 'k',
      },
      [],
    ],
  ])('reports connections to NATS and Redis with %s', (_, more, findings) => {
    const { values } = readEnv(apiEnv, { ...gateway, ...more }, prod);
    const found = envFindings(apiEnv, values);

    expect(found.map(({ finding }) => finding)).toEqual(findings);
    expect(JSON.stringify(found)).not.toContain('pw@');
  });

  it('reports a kernel, which does not use NATS, for Redis only', () => {
    const files = { SAFETY_KERNEL_TLS_CERT: 'c', SAFETY_KERNEL_TLS_KEY: 'k', SAFETY_KERNEL_TLS_CA: 'a' };
    const { values } = readEnv(kernelEnv, { ...secure, ...files, SAFETY_POLICY_PUBLIC_KEY: 'p' }, prod);

    expect(envFindings(kernelEnv, values).map(({ finding }) => finding)).toEqual(['redis_anonymous']);
  });

  it('accepts a gateway with every required setting', () => {
    expect(gatewayProblems({})).toEqual([]);
  });

  it.each<[string, NodeJS.ProcessEnv]>([
    ['SVC_API_KEY', { SVC_API_KEY: '' }],
    ['SVC_API_KEY', { SVC_API_KEY: 'short' }],
    ['SVC_ALLOW_INSECURE_NO_AUTH', { SVC_ALLOW_INSECURE_NO_AUTH: '1' }],
    ['GATEWAY_HTTP_TLS_CERT', { GATEWAY_HTTP_TLS_CERT: '', GATEWAY_HTTP_TLS_KEY: '' }],
    ['GRPC_TLS_KEY', { GRPC_TLS_KEY: '' }],
    ['SVC_GRPC_REFLECTION', { SVC_GRPC_REFLECTION: 'on' }],
    ['GATEWAY_METRICS_ADDR', { GATEWAY_METRICS_ADDR: '0.0.0.0:9092' }],
    ['SVC_JWT_ISSUER', { SVC_JWT_HMAC_SECRET: strongKey, SVC_JWT_AUDIENCE: 'a' }],
    ['SVC_JWT_AUDIENCE', { SVC_JWT_HMAC_SECRET: strongKey, SVC_JWT_ISSUER: 'i' }],
    ['SAFETY_KERNEL_TLS_CA', { SAFETY_KERNEL_ADDR: 'kernel:50051' }],
    ['SAFETY_KERNEL_INSECURE', { SAFETY_KERNEL_INSECURE: 'true' }],
    ['SAFETY_POLICY_PUBLIC_KEY', { SAFETY_POLICY_PUBLIC_KEY: '' }],
    ['REDIS_PASSWORD', { REDIS_PASSWORD: 'short' }],
  ])('gateway: %s is rejected with %j', (name, more) => expect(gatewayProblems(more)).toEqual([name]));

  it('accepts risks that are set explicitly', () => {
    const more = {
      NATS_URL: 'nats://n', SVC_NATS_ALLOW_PLAINTEXT: '1', SVC_GRPC_REFLECTION: '1', SVC_GRPC_REFLECTION_FORCE: '1',
      GATEWAY_METRICS_ADDR: '0.0.0.0:1', GATEWAY_METRICS_PUBLIC: '1', REDIS_PASSWORD: 'short', SVC_SKIP_SECRET_VALIDATION: '1',
    }; // prettier-ignore

    expect(gatewayProblems(more)).toEqual([]);
  });

  it('kernel: requires a certificate, and a client CA unless it is declared open', () => {
    const source = { ...secure, SAFETY_POLICY_PUBLIC_KEY: 'p' };
    const problems = (more: NodeJS.ProcessEnv) => readProblems(() => readEnv(kernelEnv, { ...source, ...more }, prod));
    const certificate = { SAFETY_KERNEL_TLS_CERT: 'c', SAFETY_KERNEL_TLS_KEY: 'k' };

    expect(problems({})).toEqual(['SAFETY_KERNEL_TLS_CERT', 'SAFETY_KERNEL_TLS_CA']);
    expect(problems(certificate)).toEqual(['SAFETY_KERNEL_TLS_CA']);
    expect(problems({ ...certificate, SAFETY_KERNEL_OPEN: 'true' })).toEqual([]);
    expect(problems({ ...certificate, SAFETY_KERNEL_TLS_CA: 'ca' })).toEqual([]);
  });
});

describe('development', () => {
  it.each<[string, NodeJS.ProcessEnv]>([
    ['SVC_JWT_CLOCK_SKEW', { SVC_JWT_CLOCK_SKEW: '6m' }],
    ['SVC_JWT_HMAC_SECRET', { SVC_JWT_REQUIRED: 'true' }],
    ['GATEWAY_HTTP_TLS_KEY', { GATEWAY_HTTP_TLS_CERT: 'c' }],
    ['NATS_TLS_CERT', { NATS_TLS_KEY: 'k' }],
  ])('an incomplete setting prevents startup: %s', (name, source) =>
    expect(readProblems(() => readEnv(apiEnv, source, dev))).toEqual([name]),
  );

  it.each<[string, NodeJS.ProcessEnv]>([
    ['SVC_USER_AUTH_ENABLED', { SVC_USER_AUTH_ENABLED: 'true', SVC_ADMIN_PASSWORD: 'p' }],
    ['SVC_OIDC_REDIRECT_URI', { SVC_OIDC_ISSUER: 'https://i', SVC_OIDC_CLIENT_ID: 'c', SVC_OIDC_REDIRECT_URI: 'https://g' }],
    ['SVC_SAML_ENABLED', { SVC_SAML_IDP_METADATA: 'm', SVC_SAML_CERT_PATH: 'c', SVC_SAML_KEY_PATH: 'k' }],
  ])('sign-in prevents startup where SVC_JWT_REQUIRED refuses its sessions: %s', (name, signIn) => {
    const tokens = { SVC_JWT_REQUIRED: 'true', SVC_JWT_HMAC_SECRET: strongKey };
    const { SVC_OIDC_REDIRECT_URI: _, ...bearerOnly } = signIn;
    const problems = (source: NodeJS.ProcessEnv) => readProblems(() => readEnv(apiEnv, source, dev));

    expect([problems(signIn), problems({ ...tokens, ...signIn })]).toEqual([[], [name]]);
    expect(problems({ ...tokens, ...bearerOnly })).toEqual(name === 'SVC_OIDC_REDIRECT_URI' ? [] : [name]);
  }); // prettier-ignore
});

describe('data URLs', () => {
  const base = 'https://gateway.example.com';
  const problems = (source: NodeJS.ProcessEnv) => readProblems(() => readEnv(schedulerEnv, source, dev));

  it('accept a key or its file, with or without the gateway address', () => {
    for (const key of [{ SVC_DATA_URL_KEY: strongKey }, { SVC_DATA_URL_KEY_PATH: 'k' }]) {
      expect([problems(key), problems({ ...key, SVC_DATA_URL_BASE: base })]).toEqual([[], []]);
    }
  });

  it.each<[string, NodeJS.ProcessEnv]>([
    ['SVC_DATA_URL_KEY', { SVC_DATA_URL_BASE: base }],
    ['SVC_DATA_URL_KEY', { SVC_DATA_URL_KEY: 'short' }],
    ['SVC_DATA_URL_KEY_PATH', { SVC_DATA_URL_KEY: strongKey, SVC_DATA_URL_KEY_PATH: 'k' }],
    ['SVC_DATA_URL_BASE', { SVC_DATA_URL_KEY: strongKey, SVC_DATA_URL_BASE: 'ftp://gateway' }],
    ['SVC_DATA_URL_BASE', { SVC_DATA_URL_KEY: strongKey, SVC_DATA_URL_BASE: `${base}?a=1` }],
  ])('startup is rejected: %s', (name, source) => expect(problems(source)).toEqual([name]));

  it('production: requires https and a strong key', () => {
    const read = (source: NodeJS.ProcessEnv) =>
      readProblems(() =>
        readEnv(
          schedulerEnv,
          { REDIS_URL: 'rediss://r', NATS_URL: 'tls://n', SAFETY_POLICY_PUBLIC_KEY: 'p', ...source },
          prod,
        ),
      );

    expect(read({ SVC_DATA_URL_KEY: strongKey, SVC_DATA_URL_BASE: base })).toEqual([]);
    expect(read({ SVC_DATA_URL_KEY: strongKey, SVC_DATA_URL_BASE: 'http://g' })).toEqual(['SVC_DATA_URL_BASE']);
    expect(read({ SVC_DATA_URL_KEY: 'a'.repeat(40) })).toEqual(['SVC_DATA_URL_KEY']);
  });
});

describe('result ticket keys', () => {
  const problems = (source: NodeJS.ProcessEnv) => readProblems(() => readEnv(schedulerEnv, source, dev));
  const second = 'Another9-strong-key-for-the-rotation-x2';

  it('are a list, or a file', () => {
    const read = readEnv(schedulerEnv, { SVC_RESULT_TICKET_KEYS: `${strongKey}, ${second}` }, dev);

    expect(read.values.resultTicketKeys).toEqual([strongKey, second]);
    expect(problems({ SVC_RESULT_TICKET_KEYS_PATH: 'k' })).toEqual([]);
    expect(readEnv(schedulerEnv, {}, dev).values.resultTicketKeys).toEqual([]);
  });

  it('are all masked in logs', () => {
    const { secrets, effective } = readEnv(schedulerEnv, { SVC_RESULT_TICKET_KEYS: `${strongKey},${second}` }, dev);

    expect(secrets).toEqual(expect.arrayContaining([strongKey, second]));
    expect(JSON.stringify(effective)).not.toContain(second);
  });

  it.each<[string, NodeJS.ProcessEnv]>([
    ['SVC_RESULT_TICKET_KEYS', { SVC_RESULT_TICKET_KEYS: `${strongKey},short` }],
    ['SVC_RESULT_TICKET_KEYS_PATH', { SVC_RESULT_TICKET_KEYS: strongKey, SVC_RESULT_TICKET_KEYS_PATH: 'k' }],
  ])('startup is rejected: %s', (name, source) => expect(problems(source)).toEqual([name]));

  it('production: must be strong', () => {
    const production = { REDIS_URL: 'rediss://r', NATS_URL: 'tls://n', SAFETY_POLICY_PUBLIC_KEY: 'p' };
    const read = (keys: string) =>
      readProblems(() => readEnv(schedulerEnv, { ...production, SVC_RESULT_TICKET_KEYS: keys }, prod));

    expect(read(`${strongKey},${second}`)).toEqual([]);
    expect(read(`${strongKey},${'a'.repeat(40)}`)).toEqual(['SVC_RESULT_TICKET_KEYS']);
  });
});

describe('SVC_TRUSTED_PROXIES', () => {
  const read = (ranges: string) => readEnv(apiEnv, { SVC_TRUSTED_PROXIES: ranges }, dev);

  it('accepts addresses and exact ranges', () => {
    const ranges = ['10.1.2.3', '10.1.2.0/24', '2001:db8::/32', '::1', 'fd00::7'];

    expect(read(ranges.join(', ')).values.trustedProxies).toEqual(ranges);
  });

  it.each([
    '0.0.0.0/0', '::/0', '10.1.2.3/24', '10.0.0.0/33', '2001:db8::1/32', '::ffff:0:0/96', 'loopback', 'proxy.example', '10.0.0.0/255.0.0.0', '*', '10.0.0.0/', 'true',
  ])('%s prevents startup, in development too', (range) => {
    expect(readProblems(() => read(`10.1.2.3,${range}`))).toEqual(['SVC_TRUSTED_PROXIES']);
  }); // prettier-ignore
});

describe('weaknessOf', () => {
  it.each([
    ['short', 'at least 12 characters'],
    ['abcdefghijkl', 'at least two kinds of characters'],
    ['ababab1ababab1', 'fewer repeated characters'],
    ['MyPassword-9zQx7', 'no common words'],
  ])('%s: %s', (secret, why) => expect(findWeakness(secret, 12)).toBe(why));

  it('accepts a random secret', () => expect(findWeakness(strongKey, 32)).toBeUndefined());
});
