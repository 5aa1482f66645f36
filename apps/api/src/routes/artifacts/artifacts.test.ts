import type { OutputSafetyRecord } from '@svc/store';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

describe('artifacts', () => {
  const api = useApi({ env: { ARTIFACT_MAX_BYTES: '2048' } });
  const put = (body: object, query = '', headers: Record<string, string> = {}) =>
    api.as('user').post(`/api/v1/artifacts${query}`, body, headers);
  const get = (ptr: unknown, query = '', headers: Record<string, string> = {}) =>
    api.as('viewer').get(`/api/v1/artifacts/${encodeURIComponent(String(ptr))}${query}`, headers);
  const base64 = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64');
  const tooLarge = { status: 413, code: 'artifact_too_large' };

  it('200: returns the stored bytes with their labels', async () => {
    const bytes = Buffer.from([0, 255, 128, 10]);

    const { status, body } = await put({ content_base64: base64(bytes), content_type: 'image/x', labels: { a: '1' } });

    expect(status).toBe(200);
    expect(body).toEqual({ artifact_ptr: expect.stringMatching(/^redis:\/\/art:[0-9a-f-]{36}$/), size_bytes: 4 });
    expect((await get(body['artifact_ptr'])).body).toEqual({
      artifact_ptr: body['artifact_ptr'],
      content_base64: base64(bytes),
      metadata: {
        content_type: 'image/x',
        size_bytes: 4,
        retention: 'standard',
        labels: { a: '1', tenant_id: 'acme' },
      },
    });
  });

  it('200: text; base64 takes precedence; unknown fields are ignored', async () => {
    const text = await put({ content: 'héllo', other: 1 });
    const both = await put({ content: 'text', content_base64: base64('bytes') });

    expect(text.body['size_bytes']).toBe(6);
    expect((await get(both.body['artifact_ptr'])).body['content_base64']).toBe(base64('bytes'));
  });

  it('200: a pointer, its key and the bare uuid name the same artifact', async () => {
    const ptr = String((await put({ content: 'x' })).body['artifact_ptr']);
    const uuid = ptr.slice('redis://art:'.length);

    for (const name of [ptr, `art:${uuid}`, uuid, uuid.toUpperCase()]) {
      expect((await get(name)).body['artifact_ptr']).toBe(ptr);
    }
  });

  it.each([
    ['short', 86_400],
    ['standard', 604_800],
    ['audit', 2_592_000],
    ['for ever', 604_800],
    [undefined, 604_800],
  ])('200: retention %s', async (retention, sec) => {
    const { body } = await put({ content: 'x', ...(retention && { retention }) });

    const ttl = await api.store.redis.ttl(String(body['artifact_ptr']).replace('redis://', ''));
    expect(Math.abs(ttl - sec)).toBeLessThan(60);
  });

  it.each([
    [{}, 'content_required'],
    [{ content: '' }, 'content_required'],
    [{ content_base64: 'no base64!' }, 'invalid_base64_content'],
    [{ content_base64: 'A' }, 'invalid_base64_content'],
    [{ content_base64: '====' }, 'invalid_base64_content'],
    [{ content_base64: '_-_-' }, 'invalid_base64_content'],
  ])('400: %j', async (body, code) => {
    expect(statusAndCode(await put(body))).toEqual({ status: 400, code });
  });

  it('413: content over the limit, which query and header can lower but not raise', async () => {
    const bytes = (n: number) => ({ content_base64: base64(Buffer.alloc(n)) });

    expect((await put(bytes(2_048))).status).toBe(200);
    expect((await put(bytes(2_049))).body).toMatchObject({ ...tooLarge, limit_bytes: 2_048 });
    expect(statusAndCode(await put(bytes(2_049), '?max_bytes=9999', { 'X-Max-Artifact-Bytes': '9999' }))).toEqual(
      tooLarge,
    );
    expect(statusAndCode(await put(bytes(11), '?max_bytes=10'))).toEqual(tooLarge);
    expect(statusAndCode(await put(bytes(11), '', { 'X-Max-Artifact-Bytes': '10' }))).toEqual(tooLarge);
    expect((await put(bytes(11), '?max_bytes=5', { 'X-Max-Artifact-Bytes': '20' })).body['limit_bytes']).toBe(5);
    expect((await put(bytes(11), '', { 'X-Max-Artifact-Bytes': 'ten' })).status).toBe(200);
  });

  it('413: an artifact over the reader’s limit', async () => {
    const { body } = await put({ content: 'x'.repeat(11) });

    expect(statusAndCode(await get(body['artifact_ptr'], '?max_bytes=10'))).toEqual(tooLarge);
    expect(statusAndCode(await get(body['artifact_ptr'], '', { 'X-Max-Artifact-Bytes': '10' }))).toEqual(tooLarge);
    expect((await get(body['artifact_ptr'], '?max_bytes=11')).status).toBe(200);
  });

  it.each(['redis://ctx:x', 'art:not-a-uuid', 'art:meta:x'])('400: %s names no artifact', async (ptr) => {
    expect(statusAndCode(await get(`${ptr}`))).toEqual({ status: 400, code: 'invalid_artifact_pointer' });
  });

  it('404: an expired artifact', async () => {
    const { body } = await put({ content: 'x' });
    const key = String(body['artifact_ptr']).replace('redis://', '');
    await api.store.redis.del(key);

    expect(statusAndCode(await get(key))).toEqual({ status: 404, code: 'artifact_not_found' });
    expect(statusAndCode(await get('00000000-0000-4000-8000-000000000000'))).toMatchObject({ status: 404 });
  });

  it('403: an artifact of a job with quarantined output, until released; labels of other tenants are ignored', async () => {
    const verdict: OutputSafetyRecord = { decision: 'QUARANTINE', reason: '', rule_id: '', policy_snapshot: '', findings: [], phase: 'sync', checked_at: 1, check_duration_ms: 1 }; // prettier-ignore
    const fields = { output_safety: { ...verdict, original_ptr: 'redis://res:held' } };
    const job_id = await api.given.job({ id: 'held', state: 'OUTPUT_QUARANTINED', fields });
    const foreign = await api.given.job({ state: 'OUTPUT_QUARANTINED', tenant: 'globex' });
    const made = (await put({ content: 'x', labels: { job_id } })).body['artifact_ptr'];
    const other = (await put({ content: 'x', labels: { job_id: foreign } })).body['artifact_ptr'];

    expect(statusAndCode(await get(made))).toEqual({ status: 403, code: 'output_quarantined' });
    expect((await get(other)).status).toBe(200);

    await api.as('admin').post(`/api/v1/dlq/${job_id}/release`, { reason: 'fine' });
    expect((await get(made)).status).toBe(200);
  });

  it('403: labels cannot claim another tenant', async () => {
    expect(statusAndCode(await put({ content: 'x', labels: { tenant_id: 'globex' } }))).toEqual({
      status: 403,
      code: 'tenant_access_denied',
    });
    expect((await put({ content: 'x', labels: { tenant_id: 'acme' } })).status).toBe(200);
  });
});

describe('artifacts of the usual size', () => {
  const api = useApi();

  it('400: many trailing `=` are rejected in linear time', async () => {
    const body = { content_base64: `A${'='.repeat(900_000)}A` };

    expect(statusAndCode(await api.as('user').post('/api/v1/artifacts', body))).toEqual({
      status: 400,
      code: 'invalid_base64_content',
    });
  });
});
