import { encodePacket, jobRequestPacket, subjects, type JobRequestDraft } from '@svc/contract';
import { eventually } from '@svc/testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const enforce = { boundary_hardening: { schema_enforcement: 'enforce' } };
const sku = { type: 'object', required: ['sku'], properties: { sku: { type: 'string' } } };

/** Registers `job.work` for everybody, and a schema of its own for each field named. */
async function given(entry: object, schema?: Record<string, unknown>): Promise<void> {
  const data = { 'job.work': { pool: 'main', ...entry }, 'job.other': { pool: 'main' } };
  await use.document('system', 'topics', data);
  if (schema) await use.store.schemas.write('*', { id: 'acme/It', document: schema, most: 0, nowUs: 1 });
}

async function say(draft: JobRequestDraft, input?: string): Promise<void> {
  if (input !== undefined) await use.redis.set(`ctx:${draft.job_id}`, input);
  const request = { topic: 'job.work', tenant_id: 'acme', principal_id: 'ann', ...draft };
  const packet = jobRequestPacket({ trace_id: 't1', sender_id: 'somebody', nowUs: 1 }, request);
  await use.bus.publishDurableBytes(subjects.jobSubmit.name, encodePacket(packet));
}
const ended = async (id: string, state: 'FAILED' | 'SUCCEEDED', fields: object = {}) => {
  await eventually(() => use.job(id));
  return use.until(id, state, fields);
};

describe('a job from the bus', () => {
  it('to a topic that nobody registered, or that is disabled, ends FAILED with a dead letter', async () => {
    await given({ status: 'disabled' });
    await use.start();

    await say({ job_id: 'j1', topic: 'job.nonsense' });
    await say({ job_id: 'j2' });

    await ended('j1', 'FAILED', { error_code: 'unknown_topic' });
    await ended('j2', 'FAILED', { error_code: 'topic_disabled' });
    expect(await use.deadLetter('j2')).toMatchObject({ reason_code: 'topic_disabled' });
  });

  it('runs when its input fits, bare or as the context of a document', async () => {
    await given({ input_schema_id: 'acme/It' }, sku);
    await use.start({ config: enforce });
    await use.rawWorker({ id: 'w1', max: 2, answers: () => ['SUCCEEDED'] });

    await say({ job_id: 'j1' }, '{"sku":"a"}');
    await say({ job_id: 'j2' }, '{"prompt":"x","context":{"sku":"a"}}');

    await ended('j1', 'SUCCEEDED');
    await ended('j2', 'SUCCEEDED');
  });

  it.each([
    ['does not fit', '{"sku":1}', '/sku must be string'],
    ['does not fit as a context', '{"sku":"a","context":{}}', "must have required property 'sku'"],
    ['is not JSON', 'sku', 'not JSON'],
    ['does not exist', undefined, 'does not exist'],
  ])('ends FAILED before any worker hears of it when its input %s', async (_, input, message) => {
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
  ])('ends FAILED with %s when there is nothing to check its input against', async (error_code, schema) => {
    await given({ input_schema_id: 'acme/It' }, schema);
    await use.start({ config: enforce });

    await say({ job_id: 'j1' }, '{}');

    await ended('j1', 'FAILED', { error_code });
  });

  it('runs all the same when schemas are only warned of', async () => {
    await given({ input_schema_id: 'acme/It' }, sku);
    await use.start();
    await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });

    await say({ job_id: 'j1' }, '{}');

    await ended('j1', 'SUCCEEDED');
  });
});

describe('a job from the gateway', () => {
  it('is not checked a second time: a schema that is changed later leaves it alone', async () => {
    await given({ input_schema_id: 'acme/It' }, { required: ['prompt'] });
    await use.start({ config: enforce, idle: true });
    const id = await use.submit({});
    await use.store.schemas.write('*', { id: 'acme/It', document: { not: {} }, most: 0, nowUs: 2 });
    await use.start();
    await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });

    await use.until(id, 'SUCCEEDED');
  });

  it('ends FAILED when its topic is disabled while it waits for its worker', async () => {
    await given({});
    const { ctx } = await use.start();
    const id = await use.submit({});
    // A decision that is still on its way has seen the topic as it was.
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    await given({ status: 'disabled' });
    ctx.config.changed();

    await use.rawWorker({ id: 'w1' });

    await use.until(id, 'FAILED', { error_code: 'topic_disabled' });
  });
});

describe('a result', () => {
  const work = (result: unknown) => use.worker({ id: 'w1', topics: { 'job.>': () => result } });

  it('that fits the output schema of its topic is a success', async () => {
    await given({ output_schema_id: 'acme/It' }, sku);
    await use.start({ config: enforce });
    await work({ sku: 'a' });

    await use.until(await use.submit({}), 'SUCCEEDED');
  });

  it.each([
    ['does not fit', { sku: 1 }, '/sku must be string'],
    ['is larger than can be checked', { sku: 'x'.repeat(2_097_152) }, 'at most 2097152 can be checked'],
  ])('that %s fails its job, for good', async (_, result, message) => {
    await given({ output_schema_id: 'acme/It' }, sku);
    await use.start({ config: { ...enforce, retry: { max_retries: 3 } } });
    await work(result);

    const job = await use.until(await use.submit({}), 'FAILED', { error_code: 'output_schema_validation_failed' });

    expect(job.error_message).toContain(message);
    expect(job.attempts).toBe(1);
    expect(await use.deadLetter(job.id)).toMatchObject({ reason_code: 'output_schema_validation_failed' });
  });

  it('is needed where there is an output schema', async () => {
    await given({ output_schema_id: 'acme/It' }, {});
    await use.start({ config: enforce });
    await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });

    const job = await use.until(await use.submit({}), 'FAILED', { error_code: 'output_schema_validation_failed' });

    expect(job.error_message).toMatch(/no result|not there/);
  });

  it('that does not fit is a success all the same when schemas are only warned of', async () => {
    await given({ output_schema_id: 'acme/It' }, sku);
    await use.start();
    await work({ sku: 1 });

    await use.until(await use.submit({}), 'SUCCEEDED');
  });
});
