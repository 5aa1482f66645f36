import { AppError, submitJob, type Caller, type SubmitBody } from '@svc/contract';
import { toPolicyContent } from '@svc/decision';
import { normalizeRequest, publicLabels } from './normalize-request';

const caller: Caller = {
  tenant: 'acme',
  scope: 'acme',
  principalId: 'uma',
  role: 'user',
  keyId: 'k',
  keyName: 'k',
  allowCrossTenant: false,
  source: 'api_key',
  submitterId: 'apikey:1|principal:uma',
};
const body = (over: object = {}): SubmitBody => {
  const checked = submitJob.body?.validate({ prompt: 'hi', ...over });
  if (!checked || checked.error) throw new Error(checked?.error?.message);
  return checked.value;
};
const normalize = (over: object = {}, who: Partial<Caller> = {}, maxPromptChars = 0) =>
  normalizeRequest(body(over), { ...caller, ...who }, 'j1', maxPromptChars, '2026-01-01T00:00:00.000Z');
const getErrorCode = (act: () => unknown) => {
  try {
    act();
    return undefined;
  } catch (error) {
    return error instanceof AppError ? error.errorCode : error;
  }
};

describe('normalizeRequest', () => {
  it('builds the input document for workers', () => {
    expect(normalize({ context: { a: 1 }, adapter_id: 'x' }).document).toEqual({
      prompt: 'hi',
      adapter_id: 'x',
      priority: 'interactive',
      topic: 'job.default',
      created_at: '2026-01-01T00:00:00.000Z',
      tenant_id: 'acme',
      context: { a: 1 },
    });
    expect(normalize().document).not.toHaveProperty('context');
  });

  it('omits empty fields', () => {
    const { request } = normalize({ adapter_id: '', team_id: '', actor_type: '', pack_id: '' });

    for (const field of ['adapter_id', 'team_id', 'actor_type', 'pack_id']) expect(request).not.toHaveProperty(field);
  });

  it.each([
    ['chat', 'chat'],
    ['rag', 'rag'],
    ['raw', 'raw'],
    ['toString', 'raw'],
    [undefined, 'raw'],
  ])('context mode %s is read as %s', (context_mode, read) => {
    expect(normalize({ context_mode }).request.context_mode).toBe(read);
  });

  it.each([
    [undefined, 'j1'],
    ['mem:notes', 'notes'],
    ['notes', 'notes'],
    ['mem:mem:x', 'mem:x'],
    [' notes ', 'notes'],
  ])('memory id %j is %s', (memory_id, id) => {
    expect(normalize({ memory_id }).request.memory_id).toBe(id);
  });

  it.each(['', 'mem:', 'mem:  '])('memory id %j is rejected', (memory_id) => {
    expect(getErrorCode(() => normalize({ memory_id }))).toBe('invalid_memory_id');
  });

  it('uses the principal of the credential, and another one only with permission', () => {
    expect(normalize().request).toMatchObject({ principal_id: 'uma', actor_id: 'uma' });
    expect(normalize({ principal_id: 'uma', actor_id: 'bot' }).request).toMatchObject({ actor_id: 'bot' });
    expect(getErrorCode(() => normalize({ principal_id: 'bob' }))).toBe('access_denied');
    expect(normalize({ principal_id: 'bob' }, { role: 'admin' }).request.principal_id).toBe('bob');
    expect(normalize({ principal_id: 'bob' }, { allowCrossTenant: true }).request).toMatchObject({ actor_id: 'bob' });
  });

  it('rejects another tenant in every field that names one', () => {
    expect(normalize({ tenant_id: 'acme', org_id: 'acme' }).tenant).toBe('acme');
    expect(getErrorCode(() => normalize({ org_id: 'globex' }))).toBe('tenant_access_denied');
    expect(getErrorCode(() => normalize({ org_id: 'acme', tenant_id: 'globex' }))).toBe('tenant_access_denied');
    expect(getErrorCode(() => normalize({ tenant_id: 'globex' }, { scope: '*', allowCrossTenant: true }))).toBe(
      'tenant_access_denied',
    );
  });

  it.each([
    [0, 50_000],
    [-1, 500_000],
    [60_000, 60_000],
    [900_000, 500_000],
    [10, 10],
  ])('a license that says %s allows prompts of %s characters', (granted, allowed) => {
    expect(getErrorCode(() => normalize({ prompt: 'x'.repeat(allowed) }, {}, granted))).toBeUndefined();
    expect(getErrorCode(() => normalize({ prompt: 'x'.repeat(allowed + 1) }, {}, granted))).toBe('tier_limit_exceeded');
  });

  it('a secret reference marks the job only at the start of a text', () => {
    const marked = normalize({ context: ['a', { b: 'secret://v' }], risk_tags: ['secrets'] });

    expect(marked.request).toMatchObject({ risk_tags: ['secrets'], labels: { secrets_present: 'true' } });
    expect(normalize({ context: { 'secret://k': 'see secret://v' } }).request.risk_tags).toEqual([]);
    expect(normalize({ labels: { secrets_present: 'true' } }).request.labels).toEqual({ _source: 'api' });
  });

  it('the policy content has the context’s fields at the top level, and always the prompt', () => {
    expect(JSON.parse(normalize({ context: { amount: 3, prompt: 'other' } }).content)).toEqual({
      amount: 3,
      prompt: 'hi',
    });
    expect(JSON.parse(normalize({ context: [1] }).content)).toEqual({ context: [1], prompt: 'hi' });
    expect(JSON.parse(normalize().content)).toEqual({ prompt: 'hi' });
  });

  it('a stored document gives the same content as the request it came from', () => {
    for (const over of [{}, { context: { amount: 3 } }, { context: 'text' }, { context: null }]) {
      const { document, content } = normalize(over);
      expect(toPolicyContent(document)).toBe(content);
    }
    expect(JSON.parse(toPolicyContent(null))).toEqual({ prompt: '' });
  });
});

it('labels set by the service are not returned', () => {
  expect(publicLabels({ a: '1', _source: 'api', secrets_present: 'true' })).toEqual({
    a: '1',
    secrets_present: 'true',
  });
});
