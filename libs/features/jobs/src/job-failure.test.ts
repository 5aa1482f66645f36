import { failureWrites, type JobFailure } from './job-failure';
import { plainJob } from '@svc/fixtures/decision';

const at = Date.UTC(2026, 0, 2) * 1_000;
const end = (ending: Partial<JobFailure> & Pick<JobFailure, 'event'>) =>
  failureWrites(plainJob({ state: 'RUNNING', attempts: 2 }), { code: 'c', message: 'm', ...ending }, at, 60);

describe('failureWrites', () => {
  it.each([
    ['fail', 'JOB_STATUS_FAILED'],
    ['deny', 'JOB_STATUS_DENIED'],
    ['timeOut', 'JOB_STATUS_TIMEOUT'],
    ['quarantine', 'JOB_STATUS_DENIED'],
    ['refuse', 'JOB_STATUS_FAILED'],
  ] as const)('%s is reported as %s on the bus, in the record and in the dead letter', (event, status) => {
    const { set, deadLetter } = end({ event });

    expect(set).toEqual({
      error_code: 'c',
      error_message: 'm',
      error_status: status,
      last_state: 'RUNNING',
    });
    expect(JSON.parse(deadLetter?.body ?? '')).toEqual({
      job_id: 'j1',
      topic: 'job.default',
      tenant: 'acme',
      status,
      reason: 'm',
      reason_code: 'c',
      last_state: 'RUNNING',
      attempts: 2,
      created_at: '2026-01-02T00:00:00.000Z',
    });
    expect(deadLetter).toMatchObject({ ttl_sec: 60, topic: 'job.default', reason: 'c: m' });
  });

  it.each(['output_quarantined', 'output_quarantined_async'])('the reason of %s is the code itself', (code) => {
    expect(JSON.parse(end({ event: 'quarantine', code }).deadLetter?.body ?? '')).toMatchObject({ reason: code });
  });

  it('the intent always holds the dead letter, and a result or a cancel on request', () => {
    expect(JSON.parse(end({ event: 'fail' }).intent ?? '')).toEqual({ dlq: true });
    expect(JSON.parse(end({ event: 'timeOut', result: 'TIMEOUT', cancel: 'late' }).intent ?? '')).toEqual({
      result: 'TIMEOUT',
      cancel: 'late',
      dlq: true,
    });
  });

  describe('of an attempt that its run retries', () => {
    const attempt = (ending: Partial<JobFailure> & Pick<JobFailure, 'event'>) =>
      failureWrites(plainJob({ state: 'RUNNING', letter: 'withhold' }), { code: 'c', message: 'm', ...ending }, at, 60);

    it.each(['fail', 'timeOut', 'refuse'] as const)('%s withholds the dead letter, and records that', (event) => {
      const { set, deadLetter, intent } = attempt({ event });

      expect([set?.letter, deadLetter, intent]).toEqual(['withheld', undefined, undefined]);
    });

    it('a time-out is still reported on the bus, without the dead letter', () => {
      const { intent = '' } = attempt({ event: 'timeOut', result: 'TIMEOUT', cancel: 'late' });

      expect(JSON.parse(intent)).toEqual({ result: 'TIMEOUT', cancel: 'late' });
    });

    it.each<Partial<JobFailure> & Pick<JobFailure, 'event'>>([
      { event: 'fail', reported: 'FAILED_FATAL' },
      { event: 'fail', reported: 'DENIED' },
      { event: 'deny' },
      { event: 'quarantine' },
    ])('%j is final, and has its dead letter at once', (ending) => {
      const { set, deadLetter, intent = '' } = attempt(ending);

      expect(set?.letter).toBeUndefined();
      expect(deadLetter).toBeDefined();
      expect(JSON.parse(intent)).toEqual({ dlq: true });
    });
  });

  it('a job that has ended has no waiting reason', () => {
    expect(end({ event: 'fail' }).unset).toEqual(['waiting_reason']);
  });
});
