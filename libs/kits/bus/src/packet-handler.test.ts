import { encodePacket, jobCancelPacket, type Refusal } from '@svc/contract';
import { ack, type Delivery } from './delivery';
import { packetHandler } from './packet-handler';

describe('packetHandler', () => {
  const bytes = Buffer.from('junk');
  const reports: [Delivery, Refusal][] = [];
  const handled = packetHandler(
    'job_cancel',
    async () => ack,
    (...report) => void reports.push(report),
  );

  it('an unreadable packet is redelivered twice after 5 s each, then terminated and reported once', async () => {
    const outcomes = [];
    for (const deliveries of [1, 2, 3]) {
      outcomes.push(await handled({ subject: 's', bytes, deliveries, streamSeq: 7 }));
    }

    expect(outcomes).toMatchObject([
      { kind: 'nak', delayMs: 5_000 },
      { kind: 'nak', delayMs: 5_000 },
      { kind: 'term' },
    ]);
    expect(reports.map(([, { code }]) => code)).toEqual([101]);
  });

  it('a valid packet is passed on with the bytes that a signature covers', async () => {
    const packet = jobCancelPacket({ trace_id: 't', sender_id: 's', nowUs: 1 }, { job_id: 'j' });
    const received: unknown[] = [];
    const handler = packetHandler(
      'job_cancel',
      async (delivery) => (received.push(delivery), ack),
      () => undefined,
    );

    const bytes = encodePacket(packet);
    await handler({ subject: 's', bytes, deliveries: 1 });

    expect(received).toEqual([{ subject: 's', bytes, deliveries: 1, packet }]);
  });
});
