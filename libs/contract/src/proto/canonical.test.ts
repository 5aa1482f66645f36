import { canonicalJobRequest, decodePacket, encodePacket, jobHash, jobRequestPacket } from '../index';
import { entry, hex, text } from './wire-writer.testing';

describe('the deterministic encoding', () => {
  const base = {
    job_id: 'j',
    topic: 'job.t',
    labels: { b: '1', '10': 'x', '9': 'y', a: '2', é: '3', '💡': '4', '\uFF61': '5' },
  };
  const sorted = ['10', '9', 'a', 'b', 'é', '\uFF61', '💡'] as const;

  it('maps are sorted by the bytes of their keys, also keys that look like numbers', () => {
    const expected = [
      ...text(1, 'j'),
      ...text(2, 'job.t'),
      ...sorted.flatMap((key) => entry(15, key, base.labels[key])),
    ];

    expect(hex([...canonicalJobRequest(base)])).toBe(hex(expected));
  });

  it('the hash of a job is the SHA-256 of those bytes', () => {
    expect(jobHash({ job_id: 'j', topic: 'job.t' })).toBe(
      // sha256 of 0a016a12056a6f622e74
      'c6c74205d8699491b0120c887491f10a466cd66aac96e2c7b70ed85c1915251c',
    );
  });

  it('the hash ignores the order of maps and the fields that the platform adds after the decision', () => {
    const later = {
      ...base,
      labels: {
        ...Object.fromEntries(Object.entries(base.labels).reverse()),
        approval_granted: 'true',
        approval_snapshot: 's',
        'svc.bus_msg_id': 'x',
        'policy.attachment_id': 'job/j/policy',
      },
      env: { SVC_EFFECTIVE_CONFIG: '{}' },
      dispatch: { dispatch_id: 'd-1', attempt: 1 },
      inline_input: Buffer.from('{}'),
      result_ticket: Buffer.from('sealed'),
    };

    expect(jobHash(later)).toBe(jobHash(base));
  });

  it('the hash covers every other change', () => {
    const changes = [
      { topic: 'job.u' },
      { labels: { ...base.labels, a: '3' } },
      { env: { tenant_id: 'x' } },
      { meta: { risk_tags: ['x'] } },
      { compensation: { topic: 'job.undo' } },
    ];
    const hashes = changes.map((change) => jobHash({ ...base, ...change }));

    expect(new Set([jobHash(base), ...hashes]).size).toBe(changes.length + 1);
  });

  it('a decoded request has the hash of the encoded one', () => {
    const packet = jobRequestPacket({ trace_id: 't', sender_id: 's', nowUs: 1 }, base);
    const read = decodePacket(encodePacket(packet));

    if (read.kind !== 'ok' || read.packet.kind !== 'job_request') throw new Error(read.kind);
    expect(jobHash(read.packet.body)).toBe(jobHash(base));
  });
});
