import { endpoint, shape } from '@svc/contract';
import Joi from 'joi';
import { createValidator } from './validation';

interface Item {
  id: string;
  size: number;
}
const item = shape<Item>({ required: { id: Joi.string(), size: Joi.number().default(3) } });
const listed = endpoint({
  id: 'lists.put',
  method: 'put',
  path: '/lists',
  summary: 'Store a list',
  access: 'public',
  params: {},
  bodyItems: 'items',
  violationCodes: { items: 'eval_dataset_invalid' },
  body: shape<{ name: string; items: Item[] }>({
    required: { name: Joi.string(), items: Joi.array().items(item).min(1).max(1_000) },
  }),
  answer: { status: 204 },
  errors: ['eval_dataset_invalid'],
});

describe('a body whose items are validated one by one', () => {
  const validate = createValidator(listed);
  const check = (body: unknown) => validate({ params: {}, query: {}, body }).body;
  const violations = (body: unknown): { path: string; message: string }[] => {
    try {
      check(body);
    } catch (error) {
      return (error as { extras: { violations: { path: string; message: string }[] } }).extras.violations;
    }
    throw new Error('accepted');
  };

  it('is accepted with the defaults of its items', () => {
    expect(check({ name: 'a', items: [{ id: 'x' }, { id: 'y', size: 1 }] })).toEqual({
      name: 'a',
      items: [{ id: 'x', size: 3 }, { id: 'y', size: 1 }],
    }); // prettier-ignore
  });

  it('reports the violations of several items, and of other fields', () => {
    expect(violations({ items: [{ id: 'x' }, { id: 1 }, null, { id: 'z', more: 1 }] }).map(({ path }) => path)).toEqual([
      'name', 'items[1].id', 'items[2]', 'items[3].more',
    ]); // prettier-ignore
  });

  it('reports at most 100 violations, and only the length of a list that is too long', () => {
    expect(violations({ name: 'a', items: Array<number>(1_000).fill(1) })).toHaveLength(100);
    expect(violations({ name: 'a', items: Array<number>(1_001).fill(1) }).map(({ path }) => path)).toEqual(['items']);
    expect(violations({ name: 'a', items: [] }).map(({ path }) => path)).toEqual(['items']);
  });

  it('reports one violation of a large item, however many it has', () => {
    const large = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`field_${i}`, i]));

    expect(violations({ name: 'a', items: [large] })).toHaveLength(1);
  });

  it('is checked by its schema when the list is missing or not a list', () => {
    expect(violations({ name: 'a' }).map(({ path }) => path)).toEqual(['items']);
    expect(violations({ name: 'a', items: 'x' }).map(({ path }) => path)).toEqual(['items']);
  });
});
