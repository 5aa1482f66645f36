import { ExportMemory } from '@svc/audit';
import { emptyHead, sealFacts, type ChainHead } from '@svc/audit-chain';
import { canonicalJson } from '@svc/json';
import { keys } from '@svc/store';
import { parse } from 'csv-parse/sync';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { useApi } from '../../api.testing';
import { identities, type Who } from '../../identities.testing';

const { privateKey } = generateKeyPairSync('ed25519');

describe('GET /api/v1/audit/export', () => {
  const api = useApi({
    env: {
      TENANT_ID: 'house',
      SVC_AUDIT_HMAC_KEY: 'h'.repeat(32),
      SVC_AUDIT_SIGNING_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    },
    // Smaller than the largest export here, so that a part of it is read again.
    context: (ctx) => ({ ...ctx, auditExports: { ...ctx.auditExports, memory: new ExportMemory(1_000_000) } }),
  });
  beforeEach(() => api.license('enterprise'));

  const path = (query = '') => `/api/v1/audit/export?from=${Date.now() - 3_600_000}&to=${Date.now() + 60_000}&${query}`;
  const fetchText = async (query = '', who: Who = 'admin') => {
    const response = await fetch(api.url + path(query), { headers: { 'X-API-Key': identities[who].key } });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: Buffer.from(await response.arrayBuffer()).toString(),
    };
  };
  const exported = async (query = '', who: Who = 'admin') => {
    const { text, ...answer } = await fetchText(query, who);
    const lines = text.trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>); // prettier-ignore
    return { ...answer, manifest: lines[0] ?? {}, events: lines.slice(1, -1), last: lines.at(-1) ?? {} };
  };
  const record = (reason: string, more: object = {}, tenant = 'acme') =>
    api.store.audit.record(tenant, {
      event_type: 'system.auth',
      action: 'auth.failure',
      severity: 'MEDIUM',
      reason,
      ...more,
    });

  it('200: a manifest, every event with its hashes, oldest first, and a footer, each event verifiable', async () => {
    for (let i = 0; i < 3; i++) await record(`try ${i}`, { extra: { n: `"${i}"`, user_token: 'hunter2' } });
    await api.as('admin').get('/api/v1/audit/events/1/proof');

    const { status, headers, manifest, events, last } = await exported();

    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'content-disposition': expect.stringMatching(/^attachment; filename="svc-audit-acme-\d{8}-\d{8}\.ndjson"$/),
      'x-svc-export-format': 'json',
      'x-svc-tenant': 'acme',
    });
    expect(manifest).toMatchObject({
      type: 'manifest',
      tenant_id: 'acme',
      format: 'json',
      soc2_legend: { 'CC6.1': expect.any(String) },
      chain_verification: { status: 'ok', gaps: [], total_events: events.length },
      event_count: events.length,
      truncated_at_max: false,
      max_events_cap: 1_000_000,
      retention_boundary_seq: 0,
      row_filter: {},
      row_filter_applied: false,
      checkpoint: { seq: 3, tenant_id: 'acme', signature: expect.any(String) },
    });
    expect(last).toMatchObject({ type: 'footer', event_count: events.length, truncated: false, checkpoint: { seq: 3 } });
    // The export itself is the last event.
    expect(events.map(({ reason, action }) => reason ?? action)).toEqual(['try 0', 'try 1', 'try 2', 'audit.export']);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(events[0]).toMatchObject({
      type: 'event',
      soc2_controls: ['CC6.1'],
      extra: { n: '"0"' },
      redacted: ['user_token'],
    });
    const { type: _, event_hash, hmac, soc2_controls: __, ...hashed } = events[3] ?? {};
    expect(createHash('sha256').update(canonicalJson(hashed)).digest('hex')).toBe(event_hash);
    expect(hmac).toMatch(/^[0-9a-f]{64}$/);
    expect(hashed['extra']).toMatchObject({ format: 'json', role: 'admin', resource_id: 'acme' });
  }); // prettier-ignore

  it('200: CSV that an independent parser reads, in which no cell is a formula', async () => {
    const hostile = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', 'a,"b"\nc', 'plain', "'quoted"];
    for (const reason of hostile)
      await record(reason, { risk_tags: ['a', 'b'], extra: { k: 'v,"w"' }, identity: reason });

    const { headers, text } = await fetchText('format=csv&excel=true');
    const rows = parse(text, { bom: true, columns: true, comment: '#', comment_no_infix: true, relax_column_count: false });

    expect(headers).toMatchObject({ 'content-type': 'text/csv; charset=utf-8', 'x-svc-export-format': 'csv' });
    expect(text.startsWith('\uFEFF# svc-manifest: {')).toBe(true);
    const [manifest, footer] = [text.slice(1).split('\r\n')[0], text.trimEnd().split('\r\n').at(-1)];
    expect(JSON.parse(manifest?.slice(16) ?? '')).toMatchObject({ event_count: rows.length, format: 'csv' });
    expect(JSON.parse(footer?.slice(14) ?? '')).toMatchObject({ event_count: rows.length, truncated: false });
    expect(Object.keys(rows[0] ?? {}).join()).toBe(
      'timestamp,event_type,severity,tenant_id,agent_id,agent_name,agent_risk_tier,job_id,action,decision,matched_rule,reason,risk_tags,capabilities,policy_version,identity,seq,event_hash,prev_hash,soc2_controls,extra_json',
    );
    const read = rows.slice(0, hostile.length) as Record<string, string>[];
    expect(read.map(({ reason }) => reason)).toEqual([...hostile.slice(0, 6).map((text) => `'${text}`), ...hostile.slice(6)]);
    expect(read[0]).toMatchObject({ risk_tags: 'a|b', seq: '1', soc2_controls: 'CC6.1', extra_json: '{"k":"v,\\"w\\""}' });
    expect(read[1]?.['prev_hash']).toBe(read[0]?.['event_hash']);
  }); // prettier-ignore

  it('200: CEF and OCSF lines', async () => {
    await record('a|b=c\\d\ne', { event_type: 'safety.decision', action: 'job.submit', decision: 'DENY', severity: 'HIGH' });

    const cef = (await fetchText('format=cef')).text.split('\n');
    const ocsf = await exported('format=ocsf');

    expect(cef[1]).toMatch(/^CEF:0\|svc\|control-plane\|[^|]+\|safety\.decision\|job\.submit\|8\|rt=\d+ externalId=/);
    expect(cef[1]).toContain('reason=a|b\\=c\\\\d\\ne');
    expect(cef[0]).toMatch(/^# svc-manifest: \{/);
    expect(cef.at(-2)).toMatch(/^# svc-footer: \{/);
    expect(ocsf.events[0]).toMatchObject({
      class_uid: 2004,
      type_uid: 200401,
      severity_id: 4,
      metadata: { version: '1.3.0', sequence: 1, tenant_uid: 'acme' },
      finding_info: { title: 'safety.decision: job.submit' },
      message: 'a|b=c\\d\ne',
    });
    expect(ocsf.events.at(-1)).toMatchObject({ class_uid: 6003, activity_id: 2, api: { operation: 'audit.export' } });
    expect(ocsf.manifest).toMatchObject({ format: 'ocsf' });
  }); // prettier-ignore

  it('200: row filters, in the manifest and in headers; a limit is reported as truncation', async () => {
    await record('a');
    await record('b', { event_type: 'safety.violation', severity: 'HIGH' });
    await record('c', { severity: 'HIGH' });

    const reasons = async (query: string) => (await exported(query)).events.map(({ reason }) => reason);
    expect(await reasons('event_type=safety.violation')).toEqual(['b']);
    expect(await reasons('severity=high')).toEqual(['b', 'c']);
    expect(await reasons('category=routine')).toEqual(['a', 'c']);
    const { headers, manifest, last, events } = await exported('severity=HIGH&limit=1');
    expect(events).toHaveLength(1);
    expect(manifest).toMatchObject({
      row_filter: { severity: 'HIGH', limit: '1' },
      row_filter_applied: true,
      event_count: 1,
      truncated_at_max: true,
    });
    expect(last).toMatchObject({ truncated: true, event_count: 1 });
    expect(headers).toMatchObject({ 'x-svc-export-filter-severity': 'HIGH', 'x-svc-export-filter-limit': '1' });
  });

  it('200: the policy bundles that were in effect in this time, without those of other tenants', async () => {
    const put = (content: string) => api.as('everywhere').put('/api/v1/policy/bundles/secops~one', { content });
    await put('rules: []');
    await put('rules: [{ id: r, match: { topics: [job.x] }, decision: deny }]');

    const { manifest } = await exported();
    const snapshots = manifest['policy_snapshots'] as Record<string, unknown>[];

    expect(snapshots).toMatchObject([
      { bundle_id: 'secops/one', name: 'one', public_key_id: expect.any(String), deactivated_at: expect.any(String) },
      { bundle_id: 'secops/one', content_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(snapshots[1]).not.toHaveProperty('deactivated_at');
  });

  it('200: what was changed in the chain is in the manifest', async () => {
    await record('a');
    await record('b');
    await exported();
    const [first] = await api.store.audit.range('acme', '-', '+', 1);
    await api.store.redis.xdel(keys.auditChain('acme'), first?.id ?? '');

    expect((await exported()).manifest).toMatchObject({
      chain_verification: { status: 'compromised', gaps: [{ at_seq: 1, type: 'missing' }] },
    });
  });

  it('a client that reads slowly is waited for; an error line ends an export whose events were removed during it', async () => {
    const facts = Array.from({ length: 20_000 }, (_, i) => ({
      ...{ tenant_id: 'acme', timestamp: new Date().toISOString(), severity: 'INFO' as const },
      ...{ event_type: 'system.test' as const, action: `act-${i}`, reason: 'x'.repeat(1_000) },
    }));
    const ms = Date.now();
    for (let head: ChainHead = emptyHead; head.seq < facts.length;) {
      const events = sealFacts(facts.slice(head.seq, head.seq + 1_000), head);
      const end = { head, lastMs: ms, applied: '' };
      await api.store.audit.append('acme', end, { events, times: events.map(() => ms), tiles: [] });
      head = events.at(-1) ?? head;
    }

    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(api.url + path(), { headers: { 'X-API-Key': identities.admin.key } }, resolve).on('error', reject);
    });
    const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    let text = String((await chunks.next()).value);
    await api.store.redis.xtrim(keys.auditChain('acme'), 'MAXLEN', 0);
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) text += String(next.value);
    const lines = text.trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>); // prettier-ignore

    expect(response.complete).toBe(true);
    expect(lines[0]).toMatchObject({ event_count: 20_001, chain_verification: { status: 'ok' } });
    expect(lines.at(-1)).toEqual({
      ...{ type: 'error', error: expect.any(String), at: expect.any(String), events_written: lines.length - 2 },
    });
    expect(lines.length - 2).toBeLessThan(20_001);
    expect(await api.metrics()).toMatch(/svc_audit_export_total\{[^}]*format="json"[^}]*status="failed"[^}]*\} 1/);
  });

  it.each([
    ['', 'INVALID_FROM'],
    ['from=x&to=2026-01-01T00:00:00Z', 'INVALID_FROM'],
    ['from=2026-01-01T00:00:00Z', 'INVALID_TO'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'INVALID_RANGE'],
    ['from=2024-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'INVALID_RANGE'],
    ['from=2999-01-01T00:00:00Z&to=2999-01-02T00:00:00Z', 'INVALID_RANGE'],
    ['from=1&to=2&format=pdf', 'INVALID_QUERY'],
    ['from=1&to=2&excel=maybe', 'INVALID_QUERY'],
    ['from=1&to=2&severity=BAD', 'INVALID_QUERY'],
    ['from=1&to=2&event_type=a%0d%0ab', 'INVALID_QUERY'],
    ['from=1&to=2&category=other', 'INVALID_CATEGORY'],
    ['from=1&to=2&limit=0', 'INVALID_LIMIT'],
  ])('400: ?%s is %s', async (query, code) => {
    expect(await api.as('admin').get(`/api/v1/audit/export?${query}`)).toMatchObject({ status: 400, body: { code } });
  });

  it('400: events before the retention of the license cannot be asked for, unless a hold keeps them', async () => {
    const old = `/api/v1/audit/export?from=${Date.now() - 91 * 86_400_000}&to=${Date.now()}&limit=1`;
    api.license('team', { audit_export: true, legal_hold: true });

    expect(await api.as('admin').get(old)).toMatchObject({ status: 400, body: { code: 'INVALID_RANGE' } });
    await api.as('admin').post('/api/v1/audit/legal-hold', { reason: 'x' });
    const held = await fetch(api.url + old, { headers: { 'X-API-Key': identities.admin.key } });
    expect(held.status).toBe(200);
    await held.text();
  });

  it.each([
    ['community', {}, 403, undefined],
    ['team', {}, 403, undefined],
    ['team', { audit_export: true }, 200, 10_000],
    ['team', { siem_export: true }, 200, 1_000_000],
    ['enterprise', {}, 200, 1_000_000],
  ] as const)('%s with %j: %i, with its cap, and each tenant its own events', async (plan, granted, status, cap) => {
    await record('secret of acme');
    await record('secret of globex', {}, 'globex');
    api.license(plan, granted);

    for (const who of ['admin', 'other'] as const) {
      const { status: got, text } = await fetchText('', who);
      expect(got).toBe(status);
      if (status === 403) expect(JSON.parse(text)).toMatchObject({ code: 'tier_limit_exceeded' });
      else expect(JSON.parse(text.split('\n')[0] ?? '')).toMatchObject({ max_events_cap: cap });
      const [own, others] = who === 'admin' ? ['acme', 'globex'] : ['globex', 'acme'];
      expect(text.includes(`secret of ${own}`)).toBe(status === 200);
      expect(text).not.toContain(`secret of ${others}`);
    }
  });

  it('403: another tenant; with cross-tenant access it is recorded in that tenant too', async () => {
    expect((await fetchText('tenant=globex')).status).toBe(403);
    await record('theirs', {}, 'globex');

    const { events } = await exported('tenant=globex', 'everywhere');

    expect(events).toMatchObject([
      { reason: 'theirs', tenant_id: 'globex' },
      { action: 'audit.export', identity: 'eve', extra: { actor_tenant: 'acme' } },
    ]);
  });
});
