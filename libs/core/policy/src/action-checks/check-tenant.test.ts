import { buildActor, outcome } from './action-checks.testing';
import { isTautology } from './tautology';

const query = (filters: Record<string, string>, more: object = {}) =>
  outcome({ kind: 'tenant_query', verb: 'read', filters, ...more });

describe('actiongate.tenant', () => {
  it.each<[Record<string, string>, object, string]>([
    [{ status: 'open' }, {}, 'passed'],
    [{ tenant_id: 'acme' }, {}, 'passed'],
    [{ tenant_id: 'ACME ' }, {}, 'passed'],
    [{ tenant_id: 'globex' }, {}, 'tenant 403 cross_tenant:owner_mismatch'],
    [{ 'orders."tenantId"': 'globex' }, {}, 'tenant 403 cross_tenant:owner_mismatch'],
    [{}, { target_resource: { owner_tenant: 'globex' } }, 'tenant 403 cross_tenant:owner_mismatch'],
    [{}, { target_resource: { owner_tenant: 'acme' } }, 'passed'],
    [{}, { target_resource: { id: 'tnt_globex_7' } }, 'tenant 403 cross_tenant:prefixed_id_mismatch'],
    [{ order_id: 'tnt_globex_7' }, {}, 'tenant 403 cross_tenant:prefixed_id_mismatch'],
    [{}, { target_resource: { id: 'tnt_acme_7' } }, 'passed'],
    [{ owner_id: '*' }, {}, 'tenant 403 wildcard_owner:owner_id'],
    [{ accountId: '4%' }, {}, 'tenant 403 wildcard_owner:account_id'],
    [{ tenant: '%' }, {}, 'tenant 403 wildcard_owner:tenant'],
    [{ name: '%tea%' }, {}, 'passed'],
    [{}, { wildcards: ['org_id'] }, 'tenant 403 wildcard_owner:org_id'],
    [{}, { wildcards: ['colour'] }, 'passed'],
    [{ raw_where: "name = 'x' OR 1=1" }, {}, 'tenant 403 wildcard_owner:raw_where'],
    [{ raw_where: "name = 'x'" }, {}, 'passed'],
    [{ include_deleted: 'true' }, {}, 'tenant 403 archived_bypass:include_deleted'],
    [{ include_deleted: 'false' }, {}, 'passed'],
    [{}, { target_resource: { archived: true } }, 'tenant 403 archived_bypass:target_resource'],
    [{ page_size: '10000' }, {}, 'passed'],
    [{ page_size: '10001' }, {}, 'tenant human large_enumeration:page_size'],
    [{ limit: '-1' }, {}, 'tenant human large_enumeration:limit'],
    [{ in_clause_size: '1001' }, {}, 'tenant human large_enumeration:in_clause_size'],
    [{}, { args: { pageSize: 20_000 } }, 'tenant human large_enumeration:page_size'],
  ])('filters %j, %j: %s', async (filters, more, expected) => {
    expect(await query(filters, more)).toBe(expected);
    expect(await outcome({ kind: 'mutation', filters, ...more })).toBe(expected);
  });

  it('callers for all tenants may cross tenants, with the same limits on enumeration and archives', async () => {
    const actor = buildActor({ isCrossTenant: true });
    const as = (filters: Record<string, string>, more: object = {}) =>
      outcome({ kind: 'tenant_query', filters, ...more }, { actor });

    expect(await as({ tenant_id: 'globex' })).toBe('passed');
    expect(await as({ owner_id: '*' })).toBe('passed');
    expect(await as({}, { target_resource: { id: 'tnt_globex_7', owner_tenant: 'globex' } })).toBe('passed');
    expect(await as({ include_archived: '1' })).toBe('tenant 403 archived_bypass:include_archived');
    expect(await as({ limit: '10001' })).toBe('tenant human large_enumeration:limit');
  });

  it('compliance reads archives', async () => {
    const asked = (role: string) =>
      outcome({ kind: 'tenant_query', filters: { with_deleted: '1' } }, { actor: buildActor({ role }) });

    expect(await asked('compliance')).toBe('passed');
    expect(await asked('compliance_officer')).toBe('passed');
    expect(await asked('noncompliance')).toBe('tenant 403 archived_bypass:with_deleted');
  });

  it('applies to queries and changes only', async () => {
    expect(await outcome({ kind: 'file', target_path: '/tmp/a', filters: { tenant_id: 'globex' } })).toBe('passed');
  });
});

describe('a raw condition', () => {
  it.each([
    '1=1', '1 = 1', "'a'='a'", 'x = 5 or 1=1', "name='x' OR 'a' = 'a' --", 'id = 3 or true', 'true', '1', '', '2>1',
    'owner = owner', 'a.id=a.id', "name like '%'", 'name LIKE "%%"', 'id = 1 or 1', '1 <> 2', "'a' != 'b'", '1/**/=/**/1',
    'x is null or x is not null', 'not false', 'x = 1 || 1=1', '(1=1)', 'x'.repeat(5_000), 'id=1 or 3 < 4',
  ])('%j holds for every row', (where) => expect(isTautology(where)).toBe(true)); // prettier-ignore

  it.each([
    "name = 'x'", 'id = 3', 'id = 11 and n = 1', "status = 'true'", 'a = b', 'n > 5', "name like 'a%'", 'x is not null',
    "name = 'a' and kind = 'a2'", 'total = 1 or total = 2', 'a.id = b.id', "x in (1, 2)", 'is_true = 0', 'n1 = 1',
    'updated > 5 or id = 2',
  ])('%j does not', (where) => expect(isTautology(where)).toBe(false)); // prettier-ignore

  it('is analysed quickly, whatever its form', () => {
    for (const part of ["'", 'a = ', '/*', "'a' = ", '1 <> ', 'or ']) {
      const where = part.repeat(Math.floor(4_000 / part.length));
      const startedMs = performance.now();
      isTautology(where);
      expect(performance.now() - startedMs).toBeLessThan(2_000);
    }
  });
});
