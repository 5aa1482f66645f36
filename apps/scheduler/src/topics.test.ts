import { encodePacket, jobRequestPacket, subjects, type JobRequestDraft } from '@svc/contract';
import { eventually } from '@svc/testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const enforce = { boundary_hardening: { schema_enforcement: 'enforce' } };
const sku = { type: 'object', required: ['sku'], properties: { sku: { type: 'string' } } };

/** Registers `job.work` for all tenants, with one schema for each given field. */
async function given(entry: object, schema?: Record<string, unknown>): Promise<void> {
  const data = { 'job.work': { pool: 'main', ...entry }, 'job.other': { pool: 'main' } };
  await use.document('system', 'topics', data);
  if (schema) await use.store.schemas.write('*', { id: 'acme/It', document: schema, maxSchemas: 0, nowUs: 1 });
}

async function say(draft: JobRequestDraft, input?: string): Promise<void> {
  if (input !== undefined) await use.redis.set(`ctx:${draft.job_id}`, input);
  const request = { topic: 'job.work', tenant_id: 'acme', principal_id: 'ann', ...draft };
  const packet = jobRequestPacket({ trace_id: 't1', sender_id: 'sender', nowUs: 1 }, request);
  await use.bus.publishDurableBytes(subjects.jobSubmit.name, encodePacket(packet));
}
const ended = async (id: string, state: 'FAILED' | 'SUCCEEDED', fields: object = {}) => {
  await eventually(() => use.job(id));
  return use.until(id, state, fields);
};

describe('a job from the bus', () => {
  it('to an unregistered or disabled topic ends FAILED with a dead letter', async () => {
    await given({ status: 'disabled' });
    await use.start();

    await say({ job_id: 'j1', topic: 'job.nonsense' });
    await say({ job_id: 'j2' });

    await ended('j1', 'FAILED', { error_code: 'unknown_topic' });
    await ended('j2', 'FAILED', { error_code: 'topic_disabled' });
    expect(await use.deadLetter('j2')).toMatchObject({ reason_code: 'topic_disabled' });
  });

  it('runs when its input is valid, bare or as the context of a document', async () => {
    await given({ input_schema_id: 'acme/It' }, sku);
    await use.start({ config: enforce });
    await use.rawWorker({ id: 'w1', max: 2, answers: () => ['SUCCEEDED'] });

    await say({ job_id: 'j1' }, '{"sku":"a"}');
    await say({ job_id: 'j2' }, '{"prompt":"x","context":{"sku":"a"}}');

    await ended('j1', 'SUCCEEDED');
    await ended('j2', 'SUCCEEDED');
  });

  it.each([
    ['is invalid', '{"sku":1}', '/sku must be string'],
    ['is invalid as a context', '{"sku":"a","context":{}}', "must have required property 'sku'"],
    ['is not JSON', 'sku', 'not JSON'],
    ['is missing', undefined, 'does not exist'],
  ])('ends FAILED without a dispatch when its input %s', async (_, input, message) => {
    await given({ input_schema_id: 'acme/It' }, sku);
    await use.start({ config: enforce });
    const worker = await use.rawWorker({ id: 'w1' });

    await say({ job_id: 'j1' }, input);

    const job = await ended('j1', 'FAILED', { error_code: 'schema_validation_failed' });
    expect(job.error_message).toContain(message);
    expect(await use.deadLetter('j1')).toMatchObject({ reason_code: 'schema_validation_failed' });
    expect(worker.received).toEqual([]);
  });

  it.each([
    ['schema_not_found', undefined],
    ['schema_invalid', { $ref: 'acme:nowhere' }],
  ])('ends FAILED with %s when its input schema is unusable', async (error_code, schema) => {
    await given({ input_schema_id: 'acme/It' }, schema);
    await use.start({ config: enforce });

    await say({ job_id: 'j1' }, '{}');

    await ended('j1', 'FAILED', { error_code });
  });

  it('runs when schema enforcement only warns', async () => {
    await given({ input_schema_id: 'acme/It' }, sku);
    await use.start();
    await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });

    await say({ job_id: 'j1' }, '{}');

    await ended('j1', 'SUCCEEDED');
  });
});

describe('a job from the gateway', () => {
  it('is validated once: a later change of the schema does not affect it', async () => {
    await given({ input_schema_id: 'acme/It' }, { required: ['prompt'] });
    await use.start({ config: enforce, idle: true });
    const id = await use.submit({});
    await use.store.schemas.write('*', { id: 'acme/It', document: { not: {} }, maxSchemas: 0, nowUs: 2 });
    await use.start();
    await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });

    await use.until(id, 'SUCCEEDED');
  });

  it('ends FAILED when its topic is disabled while it waits for its worker', async () => {
    await given({});
    const { ctx } = await use.start();
    const id = await use.submit({});
    // A decision in progress may still use the previous version of the topic.
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    await given({ status: 'disabled' });
    ctx.config.changed();

    await use.rawWorker({ id: 'w1' });

    await use.until(id, 'FAILED', { error_code: 'topic_disabled' });
  });
});

describe.each([
  ['in the store', {}],
  ['in its message', { resultTicketKeys: ['K4-result-ticket-key-of-these-tests-8sQ1'] }],
])('a result %s', (_place, env) => {
  const work = (result: unknown) => use.worker({ id: 'w1', topics: { 'job.>': () => result } });

  it('that matches the output schema of its topic is a success', async () => {
    await given({ output_schema_id: 'acme/It' }, sku);
    await use.start({ env, config: enforce });
    await work({ sku: 'a' });

    await use.until(await use.submit({}), 'SUCCEEDED');
  });

  it.each([
    ['does not fit', { sku: 1 }, '/sku must be string'],
    ['is larger than can be checked', { sku: 'x'.repeat(2_097_152) }, 'at most 2097152 can be checked'],
  ])('that %s fails its job without a retry', async (_, result, message) => {
    await given({ output_schema_id: 'acme/It' }, sku);
    await use.start({ env, config: { ...enforce, retry: { max_retries: 3 } } });
    await work(result);

    const job = await use.until(await use.submit({}), 'FAILED', { error_code: 'output_schema_validation_failed' });

    expect(job.error_message).toContain(message);
    expect(job.attempts).toBe(1);
    expect(await use.deadLetter(job.id)).toMatchObject({ reason_code: 'output_schema_validation_failed' });
  });

  it('is required when there is an output schema', async () => {
    await given({ output_schema_id: 'acme/It' }, {});
    await use.start({ env, config: enforce });
    await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });

    const job = await use.until(await use.submit({}), 'FAILED', { error_code: 'output_schema_validation_failed' });

    expect(job.error_message).toMatch(/no result|not there/);
  });

  it('that is invalid is still a success when schema enforcement only warns', async () => {
    await given({ output_schema_id: 'acme/It' }, sku);
    await use.start({ env });
    await work({ sku: 1 });

    await use.until(await use.submit({}), 'SUCCEEDED');
  });
});
