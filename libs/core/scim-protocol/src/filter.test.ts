import { buildUserSchema } from './user-schema';
import { ScimFault } from './fault';
import { matches, parseFilter } from './filter';
import { groupSchema } from './group-schema';

const schema = buildUserSchema(['admin', 'viewer']);
const ada = {
  id: 'u-1',
  userName: 'Ada',
  name: { givenName: 'Ada', familyName: 'O"Hara\\x' },
  emails: [{ value: 'ada@example.com', type: 'work', primary: true }],
  active: true,
  meta: { lastModified: '2026-05-01T12:00:00.000Z' },
};
const selects = (filter: string) => matches(parseFilter(schema, filter), ada);
const faultType = (filter: string) => {
  try {
    parseFilter(schema, filter);
  } catch (error) {
    return error instanceof ScimFault ? error.scimType : error;
  }
  return 'parsed';
};

describe('filters', () => {
  it.each([
    'userName eq "ADA"',
    'USERNAME Eq "ada"',
    'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ada"',
    'name.familyName eq "o\\"hara\\\\x"',
    'name.familyName co "\\u0048ara"',
    'userName sw "a" and userName ew "da"',
    'userName ne "bob"',
    'userName gt "abc" and userName le "ada"',
    'emails eq "ada@example.com"',
    'emails.value co "@example"',
    'emails[type eq "work" and value sw "ada"]',
    'emails[type eq "work"].value eq "ada@example.com"',
    'active eq true',
    'active ne false',
    'displayName eq null',
    'not (displayName pr)',
    'emails pr and name.givenName pr',
    'userName eq "x" or userName eq "y" or active eq true',
    'userName eq "x" and active eq true or id eq "u-1"',
    'meta.lastModified gt "2026-05-01T13:00:00+02:00"',
  ])('selects by %s', (filter) => expect(selects(filter)).toBe(true));

  it.each([
    'userName eq "bob"',
    'userName eq "Ada" and active eq false',
    'emails[type eq "home"]',
    'emails[type eq "work" and value sw "bob"]',
    'displayName co "a"',
    'displayName pr',
    'userName eq "x" and (active eq true or id eq "u-1")',
    'meta.lastModified lt "2026-05-01T12:00:00Z"',
  ])('does not select by %s', (filter) => expect(selects(filter)).toBe(false));

  it('members of groups are compared by id', () => {
    const group = { displayName: 'Staff', members: [{ value: 'u-1' }, { value: 'u-2' }] };

    expect(matches(parseFilter(groupSchema, 'members eq "u-2"'), group)).toBe(true);
    expect(matches(parseFilter(groupSchema, 'members[value eq "u-3"]'), group)).toBe(false);
  });

  it.each([
    '', 'userName', 'userName eq', 'userName eq ada', 'userName is "a"', 'shoeSize eq "9"', 'name.shoeSize eq "9"',
    'userName constructor "a"', 'userName pr constructor userName pr', '__proto__ pr', 'userName eq "a', 'userName eq "a" and',
    'active eq "true"', 'active gt true', 'userName eq 5', 'userName co null', 'name eq "a"', 'userName[value eq "a"]',
    '(userName pr', 'userName pr)', 'userName eq "\\q"', 'meta.created gt "yesterday"', 'userName eq "a\nb"',
  ])('refuses %j', (filter) => expect(faultType(filter)).toBe('invalidFilter')); // prettier-ignore

  it.each([
    ['line feeds in a text that does not end', `userName eq "${'\n'.repeat(4_000)}`],
    ['deep nesting', '('.repeat(4_000)],
    ['many negations', 'not '.repeat(1_000)],
    ['many terms', Array.from({ length: 300 }, () => 'id pr').join(' or ')],
    ['length', `userName eq "${'a'.repeat(5_000)}"`],
  ])('refuses %s at once', (_, filter) => expect(faultType(filter)).toBe('invalidFilter'));
});
