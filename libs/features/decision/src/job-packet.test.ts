import { decodePacket, maxInlineBytes, maxPacketBytes } from '@svc/contract';
import { plainJob } from './job-record.testing';
import { dispatchPacket } from './job-packet';

const dispatched = {
  ...plainJob({}, { env: { SVC_RESULT_URL: 'https://elsewhere', SVC_NOTE: 'kept' } }),
  worker_id: 'w1',
  dispatch_id: 'd1',
};
const envWith = (dataUrls: Record<string, string> = {}) => {
  const { packet } = dispatchPacket(dispatched, 'scheduler', 1, '{}', { dataUrls });
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

describe('the inline data of a dispatch', () => {
  const inline = { inline_input: Buffer.alloc(maxInlineBytes, 1), result_ticket: Buffer.from('ticket') };
  const requestWith = (config: string) => {
    const { bytes } = dispatchPacket(dispatched, 'scheduler', 1, config, { inline }).packet;
    const decoded = decodePacket(bytes);
    if (decoded.kind !== 'ok' || decoded.packet.kind !== 'job_request') throw new Error(decoded.kind);
    return decoded.packet.body;
  };

  it('is part of the request, unless the message would exceed its limit with it', () => {
    const withIt = requestWith('{}');
    const withoutIt = requestWith('x'.repeat(maxPacketBytes - maxInlineBytes));

    expect([withIt.inline_input.length, withIt.result_ticket.length]).toEqual([maxInlineBytes, 6]);
    expect([withoutIt.inline_input.length, withoutIt.result_ticket.length]).toEqual([0, 0]);
  });
});
