import { AppError, submitJob, type SubmitBody } from '@svc/contract';
import { replayResponse, requestFingerprint } from './idempotency';

const body = (over: object): SubmitBody => submitJob.body?.validate({ prompt: 'hi', ...over }).value as SubmitBody;
const first = (over: object) => JSON.stringify({ kind: 'accepted', job_id: 'j', trace_id: 't', ...over });

describe('requestFingerprint', () => {
  it('does not depend on the order of fields or on the idempotency key', () => {
    const one = body({ labels: { a: '1', b: '2' }, context: { x: [{ p: 1, q: 2 }] }, idempotency_key: 'k' });
    const other = body({ context: { x: [{ q: 2, p: 1 }] }, labels: { b: '2', a: '1' }, idempotency_key: 'l' });

    expect(requestFingerprint(one)).toBe(requestFingerprint(other));
    expect(requestFingerprint(one)).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([{ prompt: 'ho' }, { tags: ['a'] }, { context: null }, { priority: 'batch' }, { labels: { a: '' } }])(
    'differs for %j',
    (over) => {
      expect(requestFingerprint(body(over))).not.toBe(requestFingerprint(body({})));
    },
  );
});

it('the fingerprint of a request is the same in every version of the software: it is stored with its key', () => {
  const context = { '10': 'j', '9': ['i', null], '-': { b: 1.5, a: 'é' } };

  expect(requestFingerprint(body({ context, labels: { '2': 'x', '1': 'y' } }))).toBe(
    '3b1a90b9da92667bfa6bee17e709837cb5d10a20a29592f96e2c56cad03e4529',
  );
});

describe('readAnswer', () => {
  it('replays the response of the first request', () => {
    const held = replayResponse({ hash: 'h', answer: first({ kind: 'held', reason: 'why' }) }, 'h');

    expect(replayResponse({ hash: 'h', answer: first({}) }, 'h')).toEqual({ jobId: 'j', traceId: 't', replayed: true });
    expect(held).toEqual({ jobId: 'j', traceId: 't', replayed: true, approvalReason: 'why' });
    expect(replayResponse({ hash: 'h', answer: first({ kind: 'held' }) }, 'h').approvalReason).toBe('');
  });

  it('replays the first denial, with its ids', () => {
    const again = () => replayResponse({ hash: 'h', answer: first({ kind: 'denied', reason: 'no' }) }, 'h');

    expect(again).toThrow(AppError);
    expect(again).toThrow(
      expect.objectContaining({
        errorCode: 'policy_denied',
        extras: { reason: 'no', job_id: 'j', trace_id: 't' },
        headers: { 'X-Trace-Id': 't' },
      }),
    );
  });

  it.each([
    ['another request', { hash: 'other', answer: first({}) }],
    ['nothing under the key', { hash: 'h', answer: '' }],
  ])('conflicts with %s', (_what, kept) => {
    expect(() => replayResponse(kept, 'h')).toThrow(expect.objectContaining({ errorCode: 'idempotency_conflict' }));
  });
});
