import { decodePacket } from '@svc/contract';
import { plainJob } from './job-record.testing';
import { dispatchPacket } from './job-packet';

const dispatched = {
  ...plainJob({}, { env: { SVC_RESULT_URL: 'https://elsewhere', SVC_NOTE: 'kept' } }),
  worker_id: 'w1',
  dispatch_id: 'd1',
};
const envWith = (dataUrls?: Record<string, string>) => {
  const { packet } = dispatchPacket(dispatched, 'scheduler', 1, '{}', dataUrls);
  const decoded = decodePacket(packet.bytes);
  return decoded.kind === 'ok' && decoded.packet.kind === 'job_request' ? decoded.packet.body.env : {};
};

describe('the env of a dispatch', () => {
  it('never holds a data URL that the submitter chose', () => {
    expect(envWith()).toMatchObject({ SVC_NOTE: 'kept', SVC_DISPATCH_ID: 'd1' });
    expect(envWith()).not.toHaveProperty('SVC_RESULT_URL');
    expect(envWith({ SVC_RESULT_URL: 'https://ours' })).toMatchObject({ SVC_RESULT_URL: 'https://ours' });
  });
});
