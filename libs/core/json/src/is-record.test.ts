import { isRecord } from './is-record';

it.each([{}, { a: 1 }, Object.create(null) as unknown])('%j is a record', (value) => {
  expect(isRecord(value)).toBe(true);
});

it.each([null, undefined, [], [{}], 'text', 1, true, () => ({})])('%j is not a record', (value) => {
  expect(isRecord(value)).toBe(false);
});
