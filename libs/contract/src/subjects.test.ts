import {
  consumers,
  isPublishSubject,
  jobRequestPacket,
  jobResultPacket,
  messageId,
  sentBySubject,
  streams,
  subjects,
  topicConsumer,
  workerConsumer,
  workerIdPattern,
} from './index';

const head = { trace_id: 't', sender_id: 's', nowUs: 1 };

describe('subjects', () => {
  it('a subject has a stream exactly when the stream lists it', () => {
    const listed: readonly string[] = streams.sys.subjects;

    const durable = Object.values(subjects).filter((subject) => 'stream' in subject);
    // Workers with a credential publish results under a subject of their own.
    const expected = [...durable.map(({ name }) => name), sentBySubject('*', 'sys.job.result')];
    expect(expected.sort()).toEqual([...listed].sort());
  });

  it('every group of a durable subject has its consumer, under the agreed name', () => {
    expect(Object.values(consumers).map(({ durable }) => durable)).toEqual([
      'dur_svc-scheduler__sys_job_submit',
      'dur_svc-scheduler__sys_job_result',
      'dur_svc-workflow-engine__sys_job_result',
      'dur_svc-gateway__sys_job_dlq',
      'dur_audit-exporters__sys_audit_export',
    ]);
  });

  it('consumer names of workers contain no character that NATS rejects', () => {
    const names = [
      workerConsumer('w-1').durable,
      topicConsumer('job.media.*').durable,
      topicConsumer('job.a.>', 'p').durable,
    ];

    expect(names).toEqual(['dur_w-1__worker_w-1_jobs', 'dur_job_media____job_media_STAR', 'dur_p__job_a_GT']);
  });

  it('a worker id cannot escape its subject', () => {
    expect(['w', 'w_1-A'].every((id) => workerIdPattern.test(id))).toBe(true);
    expect(['', 'a.b', '*', '>', 'a b', 'a\n', 'é'].some((id) => workerIdPattern.test(id))).toBe(false);
  });

  it('only subjects without wildcards are published to', () => {
    expect(isPublishSubject('job.demo.echo')).toBe(true);
    expect(['', 'job.*', 'job.>', 'job..a', '.a', 'a.', 'a b'].some(isPublishSubject)).toBe(false);
  });
});

describe('message ids', () => {
  const dispatch = (env: Record<string, string>, labels: Record<string, string> = {}) =>
    messageId('worker.w.jobs', jobRequestPacket(head, { job_id: 'j', topic: 'job.t', env, labels }));

  it('differ between dispatches of a job, and are equal for a repeat', () => {
    expect(dispatch({})).toBe('jobreq:j');
    expect(dispatch({ SVC_ATTEMPT: '1' })).toBe('jobreq:j:1');
    expect(dispatch({ SVC_ATTEMPT: '2' })).toBe('jobreq:j:2');
  });

  it('the replay label makes a new one', () => {
    expect(dispatch({ SVC_ATTEMPT: '2' }, { 'svc.bus_msg_id': 'x' })).toBe('jobreq:worker.w.jobs:x');
  });

  it('differ between attempts and statuses of results', () => {
    const id = (attempt: number, status: number) =>
      messageId(
        'sys.job.result',
        jobResultPacket(head, { job_id: 'j', worker_id: 'w', status, dispatch: { attempt } }),
      );

    expect([id(1, 5), id(2, 5), id(2, 9)]).toEqual([
      'sys.job.result:j:1:SUCCEEDED',
      'sys.job.result:j:2:SUCCEEDED',
      'sys.job.result:j:2:TIMEOUT',
    ]);
  });
});
