import { luaJson } from './lua-json';

describe('JSON that Lua can read', () => {
  it.each([
    [{ a: 'x' }, '{"a":"x"}'],
    [{ '\ud800': ['\udc00', '\ud83d\ude00'] }, '{"\ufffd":["\ufffd","😀"]}'],
    [{ a: '\\ud800' }, '{"a":"\\\\ud800"}'],
    [{ a: '\\\ud800' }, '{"a":"\\\\\ufffd"}'],
    [{ a: JSON.stringify('\ud800') }, '{"a":"\\"\\\\ud800\\""}'],
  ])('%j', (value, expected) => {
    expect(luaJson(value)).toBe(expected);
  });
});
