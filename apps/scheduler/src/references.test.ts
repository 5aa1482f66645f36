import { encodePacket, jobRequestPacket, subjects, type JobRequestDraft, type JobResultDraft } from '@svc/contract';
import { eventually } from '@svc/testing';
import { createHash } from 'node:crypto';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const sha256 = (text: string) => createHash('sha256').update(text).digest();
const body = JSON.stringify({ answer: 'x'.repeat(1_500_000) });

/** A job whose worker has written `body` as its result and then answers with this. */
async function answered(over: (id: string) => JobResultDraft): Promise<string> {
  const worker = await use.rawWorker({ id: 'w1' });
  const id = await use.submit();
  const request = await worker.dispatched(id);
  await use.redis.set(`res:${id}`, body);
  await worker.answer(request, 'SUCCEEDED', over(id));
  return id;
}

describe('the references of a result', () => {
  it('replace missing pointers', async () => {
    await use.start();

    const id = await answered((id) => ({
      result_ref: { uri: `redis://res:${id}`, sha256: sha256(body), size_bytes: body.length },
      artifact_refs: [{ uri: 'https://files.example/a' }, { uri: 'https://files.example/b' }],
    }));

    await use.until(id, 'SUCCEEDED', {
      result_ptr: `redis://res:${id}`,
      artifact_ptrs: ['https://files.example/a', 'https://files.example/b'],
    });
  });

  it.each([
    ['another size', { size_bytes: 7 }, `result_ref: the content has ${body.length} bytes, the reference says 7`],
    ['another content', { sha256: sha256('other') }, 'result_ref: the content has another SHA-256 than the reference'],
    ['no SHA-256', { sha256: Buffer.from('short') }, 'result_ref: sha256 has 5 bytes instead of 32'],
    ['another resource', { uri: 'redis://res:other' }, 'result_ref names another resource than result_ptr'],
  ])('with %s fail the job with that error', async (_, ref, error_message) => {
    await use.start();

    const id = await answered((id) => ({ result_ptr: `redis://res:${id}`, result_ref: ref }));

    const job = await use.until(id, 'FAILED', { error_code: 'integrity_check_failed', error_message, attempts: 1 });
    expect(job).not.toHaveProperty('result_ptr');
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'integrity_check_failed' });
  });

  it('to missing content fail the job', async () => {
    await use.start();

    const id = await answered((id) => ({ result_ref: { uri: `redis://res:${id}:gone`, size_bytes: 1 } }));

    await use.until(id, 'FAILED', { error_message: 'result_ref: the content is not in the store' });
  });

  it('are verified for artifacts too', async () => {
    await use.start();
    await use.redis.set('art:a1', 'file');
    const good = { uri: 'redis://art:a1', sha256: sha256('file'), size_bytes: 4 };

    const id = await answered(() => ({ artifact_refs: [good, { ...good, sha256: sha256('other') }] }));

    await use.until(id, 'FAILED', {
      error_message: 'artifact_refs[1]: the content has another SHA-256 than the reference',
    });
  });

  it('never make the platform read data of other jobs', async () => {
    await use.start();
    await use.redis.set('res:other', 'secret');

    const id = await answered(() => ({ result_ref: { uri: 'redis://res:other', sha256: sha256('guess') } }));

    await use.until(id, 'FAILED', { error_code: 'result_ptr_not_own' });
  });
});

describe('the context reference of a job from the bus', () => {
  const publish = (draft: JobRequestDraft) => {
    const request = { topic: 'job.work', tenant_id: 'acme', principal_id: 'ann', ...draft };
    const packet = jobRequestPacket({ trace_id: 't1', sender_id: 'sender', nowUs: 1 }, request);
    return use.bus.publishDurableBytes(subjects.jobSubmit.name, encodePacket(packet));
  };
  const input = JSON.stringify({ prompt: 'hi' });
  const ref = {
    uri: 'redis://ctx:j1',
    sha256: sha256(input),
    size_bytes: input.length,
    media_type: 'application/json',
  };

  it('reaches the worker with every dispatch, and is its pointer when there is none', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });

    await publish({ job_id: 'j1', context_ref: { ...ref, uri: 'https://files.example/in' } });

    const request = await worker.dispatched('j1');
    expect(request.context_ptr).toBe('https://files.example/in');
    expect({ ...request.context_ref, sha256: Buffer.from(request.context_ref?.sha256 ?? []) }).toMatchObject({
      ...ref,
      uri: 'https://files.example/in',
    });
  });

  it('lets the SDK run the job when the content matches, and reject it otherwise', async () => {
    await use.start();
    await use.worker({ id: 'w1' });
    await use.redis.set('ctx:j1', input);
    await use.redis.set('ctx:j2', input);

    await publish({ job_id: 'j1', context_ref: ref });
    await publish({ job_id: 'j2', context_ref: { ...ref, uri: 'redis://ctx:j2', size_bytes: 1 } });

    await eventually(() => use.until('j1', 'SUCCEEDED'));
    await use.until('j2', 'FAILED', {
      error_code: 'integrity_check_failed',
      error_message: `context_ref: the content has ${input.length} bytes, the reference says 1`,
    });
  });

  it('is rejected if it differs from the pointer or names the input of another tenant', async () => {
    const { events } = await use.start();
    const foreign = await use.submit({}, 'globex');

    await publish({ job_id: 'j1', context_ptr: 'redis://ctx:j1', context_ref: { ...ref, uri: 'redis://ctx:x' } });
    await publish({ job_id: 'j2', context_ref: { ...ref, uri: `redis://ctx:${foreign}` } });

    await eventually(() =>
      expect(events.filter(([name]) => name === 'refusedSubmission')).toEqual([
        ['refusedSubmission', 'j1', 'context_ref names another resource than context_ptr'],
        ['refusedSubmission', 'j2', 'context_ptr names a job of another tenant'],
      ]),
    );
  });
});
