import type Joi from 'joi';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingActor, settingActorPaths, settingFaults, settingSections } from './setting-sections';
import { defaultSettings } from './settings';

const paths = (data: Record<string, unknown>) => settingFaults(data).map(({ path }) => path);

interface SchemaDescription {
  type?: string;
  flags?: { default?: unknown; description?: string };
  keys?: Record<string, SchemaDescription>;
}
const getFields = (schema: Joi.Schema) => (schema.describe() as SchemaDescription).keys ?? {};

/** The paths of all settings, groups within sections included. */
const pathsUnder = (path: readonly string[], { keys = {} }: SchemaDescription): string[][] =>
  Object.entries(keys).flatMap(([name, inner]) => [[...path, name], ...pathsUnder([...path, name], inner)]);
const fieldPaths = Object.entries(settingSections).flatMap(([name, schema]) =>
  pathsUnder([name], schema.describe() as SchemaDescription),
);

/** Every field with a default, as an object of its section. */
const standards = Object.fromEntries(
  Object.entries(settingSections).map(([name, schema]) => [
    name,
    Object.fromEntries(
      Object.entries(getFields(schema)).flatMap(([field, { flags }]) =>
        flags?.default === undefined ? [] : [[field, flags.default]],
      ),
    ),
  ]),
);

describe('the sections of config documents', () => {
  it('accept their own defaults, and declare the defaults that the product uses', () => {
    expect(settingFaults(standards)).toEqual([]);
    for (const [name, fields] of Object.entries(defaultSettings)) expect(standards[name]).toMatchObject(fields);
  });

  it('accept unknown sections and keys, and sections to be removed', () => {
    expect(paths({ other: 7, safety: { mine: [] }, retry: null, pools: 'x', toString: {} })).toEqual([]);
    expect(paths({ mcp: { tools: { jobs: { enabled: false, note: 1 } } } })).toEqual([]);
  });

  it.each(Object.keys(settingSections))('%s must be an object', (name) => {
    for (const value of [7, 'x', [], true]) expect(paths({ [name]: value })).toEqual([name]);
  });

  const fields = Object.entries(settingSections).flatMap(([name, schema]) =>
    Object.keys(getFields(schema)).map((field) => [name, field] as const),
  );
  it.each(fields)('%s.%s has a type, and a description', (name, field) => {
    const section = settingSections[name];

    expect(getFields(section as Joi.Schema)[field]?.flags?.description).toMatch(/./);
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
  ])('%j is rejected with a message that names the path', (data, path) => {
    expect(settingFaults(data)).toEqual([{ path, message: expect.stringMatching(/ must /) }]);
  });

  describe('their actors', () => {
    const root = join(__dirname, '../../..');
    /** Source of the platform without comments; code that only explains settings does not count as a reader. */
    const sources = ['features', 'core/policy']
      .map((folder) => join(root, folder))
      .flatMap((dir) => readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((file) => join(dir, file)))
      .filter((file) => file.endsWith('.ts') && !/\.(test|testing)\.ts$|\/explain\//.test(file))
      .map((file) => readFileSync(file, 'utf8').replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, ''));
    const names = (path: readonly string[]) => path.map((name) => new RegExp(`\\b${name}\\b`));
    const isRead = (path: string) => {
      const [section = ''] = path.split('.');
      return sources.some((source) => names([section, path.slice(path.lastIndexOf('.') + 1)]).every((name) => name.test(source)));
    };
    const known = fieldPaths.map((path) => path.join('.'));
    const leaves = known.filter((path) => !known.some((other) => other.startsWith(`${path}.`)));

    it('are declared for each section', () => {
      expect(Object.keys(settingSections).filter((name) => settingActor(name) === undefined)).toEqual([]);
      expect(settingActor('other.setting')).toBeUndefined();
    });

    it('are declared for existing settings only', () => {
      expect(settingActorPaths.filter((path) => !known.some((one) => path === one || one.startsWith(`${path}.`)))).toEqual([]);
    });

    it.each(leaves.filter((path) => settingActor(path) === 'platform'))('%s: is read by platform code', (path) => {
      expect(isRead(path)).toBe(true);
    });

    it('finds no reader of a setting that does not exist', () => {
      expect(isRead('retry.max_hope')).toBe(false);
      expect(isRead('slo.error_rate_budget')).toBe(false);
    });
  });

  it('are all validated, and all violations reported at once', () => {
    expect(paths({ retry: { max_retries: 'x', max_backoff: 1 }, slo: { critical: 1 } })).toEqual([
      ...['retry.max_retries', 'retry.max_backoff', 'slo.critical'],
    ]);
  });
}); // prettier-ignore
