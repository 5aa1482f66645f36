import type Joi from 'joi';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reservedSettings, settingFaults, settingSections } from './setting-sections';
import { defaultSettings } from './settings';

const paths = (data: Record<string, unknown>) => settingFaults(data).map(({ path }) => path);

interface Described {
  type?: string;
  flags?: { default?: unknown; description?: string };
  keys?: Record<string, Described>;
}
const fieldsOf = (schema: Joi.Schema) => (schema.describe() as Described).keys ?? {};

/** Every field with a default, as an object of its section. */
const standards = Object.fromEntries(
  Object.entries(settingSections).map(([name, schema]) => [
    name,
    Object.fromEntries(
      Object.entries(fieldsOf(schema)).flatMap(([field, { flags }]) =>
        flags?.default === undefined ? [] : [[field, flags.default]],
      ),
    ),
  ]),
);

describe('the sections of config documents', () => {
  it('take their own defaults, and those that the product goes by are told', () => {
    expect(settingFaults(standards)).toEqual([]);
    for (const [name, fields] of Object.entries(defaultSettings)) expect(standards[name]).toMatchObject(fields);
  });

  it('let pass what nobody here knows, and sections that are to be removed', () => {
    expect(paths({ other: 7, safety: { mine: [] }, retry: null, pools: 'x', toString: {} })).toEqual([]);
    expect(paths({ mcp: { tools: { jobs: { enabled: false, note: 1 } } } })).toEqual([]);
  });

  it.each(Object.keys(settingSections))('%s must be an object', (name) => {
    for (const value of [7, 'x', [], true]) expect(paths({ [name]: value })).toEqual([name]);
  });

  const fields = Object.entries(settingSections).flatMap(([name, schema]) =>
    Object.keys(fieldsOf(schema)).map((field) => [name, field] as const),
  );
  it.each(fields)('%s.%s has a type, and a description', (name, field) => {
    const section = settingSections[name];

    expect(fieldsOf(section as Joi.Schema)[field]?.flags?.description).toMatch(/./);
    const wrong = [7.25, 'no such word', { x: 1 }, [{ x: 1 }], null].filter((value) => paths({ [name]: { [field]: value } }).length > 0);
    expect(wrong.length).toBeGreaterThanOrEqual(2);
  });

  it.each([
    [{ retry: { max_retries: -1 } }, 'retry.max_retries'],
    [{ retry: { max_retries: '3' } }, 'retry.max_retries'],
    [{ retry: { initial_backoff: 'soon' } }, 'retry.initial_backoff'],
    [{ retry: { backoff_multiplier: 0.5 } }, 'retry.backoff_multiplier'],
    [{ safety: { denied_topics: ['job.a', 7] } }, 'safety.denied_topics[1]'],
    [{ safety: { pii_action: 'shrug' } }, 'safety.pii_action'],
    [{ safety: { mcp: { deny_tools: 'x' } } }, 'safety.mcp.deny_tools'],
    [{ budget: { alert_at_percent: [101] } }, 'budget.alert_at_percent[0]'],
    [{ slo: { error_rate_budget: 1.5 } }, 'slo.error_rate_budget'],
    [{ scheduler: { weight: 0 } }, 'scheduler.weight'],
    [{ resources: { max_parallel_steps: 0 } }, 'resources.max_parallel_steps'],
    [{ context: { allowed_memory_ids: 'repo:*' } }, 'context.allowed_memory_ids'],
    [{ observability: { otel: { headers: { a: 1 } } } }, 'observability.otel.headers.a'],
    [{ mcp: { tools: { jobs: { enabled: 'no' } } } }, 'mcp.tools.jobs.enabled'],
  ])('%j is refused, and the message names the place', (data, path) => {
    expect(settingFaults(data)).toEqual([{ path, message: expect.stringMatching(/ must /) }]);
  });

  it('are read by something, or told to be reserved', () => {
    const root = join(__dirname, '../..');
    const sources = ['services', 'policy']
      .map((library) => join(root, library, 'src'))
      .flatMap((dir) => readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((file) => join(dir, file)))
      .filter((file) => file.endsWith('.ts') && !/\.(test|testing)\.ts$/.test(file))
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    const unread = fields.filter(([name, field]) => {
      const isReserved = reservedSettings.includes(name) || reservedSettings.includes(`${name}.${field}`);
      return !isReserved && !new RegExp(`\\b${field}\\b`).test(sources);
    });
    const known = [...Object.keys(settingSections), ...fields.map((path) => path.join('.'))];

    expect(unread).toEqual([]);
    expect(reservedSettings.filter((path) => !known.some((one) => path === one || path.startsWith(`${one}.`)))).toEqual([]);
  });

  it('are all looked at, and all that is wrong is told at once', () => {
    expect(paths({ retry: { max_retries: 'x', max_backoff: 1 }, slo: { critical: 1 } })).toEqual([
      ...['retry.max_retries', 'retry.max_backoff', 'slo.critical'],
    ]);
  });
}); // prettier-ignore
