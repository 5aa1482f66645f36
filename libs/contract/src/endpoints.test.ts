import type { Endpoint } from './endpoint';
import { permissions } from './permissions';
import { shape } from './shape';
import { scimForm } from './scim/scim-form';
import Joi from 'joi';
import { endpoints } from './endpoints';

const all: readonly Endpoint[] = endpoints;
const getKeys = (schema: Joi.Schema | undefined) =>
  (schema?.describe() as { keys?: Record<string, { flags?: { description?: string } }> } | undefined)?.keys ?? {};

describe('the endpoint table', () => {
  it('ids, and methods with paths, are unique', () => {
    const ids = all.map(({ id }) => id);
    const targets = all.map(({ method, path }) => `${method} ${path.replace(/:\w+/g, ':')}`);

    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(targets).size).toBe(targets.length);
  });

  it.each(all)('$id', ({ id, method, path, summary, access, params, query, body, errors, answer }) => {
    expect(id).toMatch(/^[a-z]+\.[a-zA-Z]+$/);
    // The names of SCIM are those of the protocol.
    const segment = path.startsWith(`${scimForm.basePath}/`)
      ? /^\.?[A-Za-z0-9]+$|^:[a-z_]+$/
      : /^[a-z0-9-]+$|^:[a-z_]+$/;
    expect(
      path
        .slice(1)
        .split('/')
        .filter((part) => !segment.test(part)),
    ).toEqual([]);
    expect(summary).toMatch(/^[A-Z0-9].*[^.]$/);
    expect(new Set(errors).size).toBe(errors.length);
    expect(Object.keys(params)).toEqual([...path.matchAll(/:(\w+)/g)].map(([, name]) => name));
    if (access !== 'public' && access.permission) expect(permissions).toContain(access.permission);
    if (method === 'get') expect(body).toBeUndefined();
    const isWhole = ![101, 204, 302].includes(answer.status) && !answer.events && !answer.stream;
    if (isWhole) expect(answer.body).toBeDefined();
    for (const schema of Object.values<Joi.Schema>(params))
      expect(schema.validate('x'.repeat(2_000)).error).toBeDefined();
    for (const schema of [query, body]) expect(schema?.validate(null)?.error === undefined).toBe(schema === undefined);
  });

  it('routes that require a feature of the license list its error', () => {
    const silent = all.filter(({ entitledBy, errors }) => entitledBy && !errors.includes('tier_limit_exceeded'));

    expect(silent.map(({ id }) => id)).toEqual([]);
  });

  it.each(all.filter(({ body }) => body))(
    '$id: a body with every text a megabyte long is refused or kept',
    ({ body }) => {
      const long = 'x'.repeat(1_000_000);
      const fields = Object.keys(getKeys(body));

      expect(fields.length).toBeGreaterThan(0);
      for (const field of fields) expect(() => body?.validate({ [field]: long })).not.toThrow();
    },
  );
});

describe('shape', () => {
  interface Sample {
    name: string;
    size: number;
    note?: string;
  }
  const sample = shape<Sample>({
    required: { name: Joi.string(), size: Joi.number().default(3) },
    optional: { note: Joi.string() },
  });

  it('requires required fields, fills in defaults, and leaves optional fields absent', () => {
    expect(sample.validate({ name: 'a' }).value).toEqual({ name: 'a', size: 3 });
    expect(sample.validate({ size: 1 }).error?.message).toMatch(/"name" is required/);
    expect(sample.validate({ name: 'a', note: 'n' }).error).toBeUndefined();
  });

  it('rejects an unknown field', () => {
    expect(sample.validate({ name: 'a', other: 1 }).error?.message).toMatch(/"other" is not allowed/);
  });
});
