import fc from 'fast-check';
import { Writer } from 'protobufjs/minimal';
import {
  alertPacket,
  decodePacket,
  encodeJobRequest,
  encodeJobResult,
  encodePacket,
  getErrorCode,
  jobRequestPacket,
  jobResultPacket,
  jobStatusName,
  toJobStatus,
  parsePriority,
  JobPriority,
  JobStatus,
  wire,
} from './index';

const head = { trace_id: 't', sender_id: 's', nowUs: 1_790_000_000_123_456 };
const raw = (packet: object) => wire.BusPacket.encode({ protocol_version: 1, sender_id: 's', ...packet }).finish();
const request = { job_id: 'j', topic: 'job.t' };
/** A length-delimited field, written without the generated code. */
const wireField = (number: number, bytes: Uint8Array) =>
  Writer.create()
    .uint32(number * 8 + 2)
    .bytes(bytes)
    .finish();

describe('decodePacket', () => {
  it('returns the packet that was built, to the microsecond', () => {
    const packet = jobRequestPacket(head, { ...request, labels: { a: 'b' }, meta: { risk_tags: ['x'] } });

    expect(decodePacket(encodePacket(packet))).toEqual({ kind: 'ok', packet });
  });

  it('fills absent fields with their defaults, so that a spread keeps them', () => {
    const decoded = decodePacket(raw({ job_request: request }));

    expect(decoded).toMatchObject({ packet: { body: { tenant_id: '', labels: {}, priority: 0 } } });
    if (decoded.kind !== 'ok' || decoded.packet.kind !== 'job_request') throw new Error(decoded.kind);
    expect({ ...decoded.packet.body }.tenant_id).toBe('');
  });

  it.each([
    ['version', 100, raw({ protocol_version: 2, job_request: request })],
    ['version', 100, raw({ protocol_version: 0, job_request: request })],
    ['unknown_payload', 102, raw({})],
    ['unknown_payload', 102, Buffer.concat([raw({}), Buffer.from('f20300', 'hex')])],
    ['malformed', 101, Buffer.from('not a packet')],
    ['malformed', 101, raw({ job_request: request }).subarray(0, -1)],
    ['malformed', 101, Buffer.alloc(1024 * 1024 + 1)],
    ['invalid', 101, raw({ job_request: { job_id: 'j' } })],
    ['invalid', 101, raw({ job_request: { topic: 'job.t' } })],
    ['invalid', 101, raw({ job_result: { job_id: 'j', worker_id: 'w' } })],
    ['invalid', 101, raw({ job_result: { job_id: 'j', status: 5 } })],
    ['invalid', 101, raw({ job_result: { worker_id: 'w', status: 5 } })],
    ['invalid', 101, raw({ heartbeat: { pool: 'p' } })],
    ['invalid', 202, raw({ job_request: { ...request, tenant_id: 'a', env: { tenant_id: 'b' } } })],
    ['invalid', 202, raw({ job_request: { ...request, tenant_id: 'a', meta: { tenant_id: 'b' } } })],
    ['invalid', 202, raw({ job_request: { ...request, tenant_id: 'a', identity: { tenant_id: 'b' } } })],
    ['invalid', 202, raw({ identity: { tenant_id: 'b' }, job_request: { ...request, tenant_id: 'a' } })],
    ['ok', undefined, raw({ job_request: { ...request, env: { tenant_id: 'b' } } })],
    ['ok', undefined, raw({ job_request: { ...request, tenant_id: 'a', env: { tenant_id: 'a' }, meta: {} } })],
  ])('%s %s', (kind, code, bytes) => {
    expect(decodePacket(bytes)).toMatchObject({ kind, ...(code && { code }) });
  });

  it('reads a time before the first second, or none', () => {
    const times = [{ nanos: 5000 }, undefined].map((created_at) =>
      decodePacket(raw({ created_at, job_request: request })),
    );

    expect(times).toMatchObject([{ packet: { created_at_us: 5 } }, { packet: { created_at_us: 0 } }]);
  });

  it('ignores unknown fields of an ordinary packet', () => {
    const unknown = Buffer.from('f20300', 'hex');

    expect(decodePacket(Buffer.concat([raw({ job_request: request }), unknown])).kind).toBe('ok');
  });

  it('drops the dispatch of a result when an older worker used its field for other data', () => {
    const core = wire.JobResult.encode({ job_id: 'j', worker_id: 'w', status: 5, cost_usd: 0.5 }).finish();
    const older = [
      ...core,
      ...wireField(10, Buffer.from('d3c1a0b2-0000')),
      0x58,
      3,
      ...wireField(99, Buffer.from('later')),
    ];
    const bytes = Buffer.concat([raw({}), wireField(11, Uint8Array.from(older))]);

    expect(decodePacket(bytes)).toMatchObject({ kind: 'ok', packet: { body: { job_id: 'j', cost_usd: 0.5 } } });
    expect(decodePacket(bytes)).not.toHaveProperty('packet.body.dispatch');
  });

  it('keeps the dispatch when another optional field is unreadable', () => {
    const core = wire.JobResult.encode({ job_id: 'j', worker_id: 'w', status: 5, dispatch: { attempt: 2 } }).finish();
    const bytes = Buffer.concat([raw({}), wireField(11, Buffer.concat([core, wireField(12, Uint8Array.of(0xff))]))]);

    expect(decodePacket(bytes)).toMatchObject({ kind: 'ok', packet: { body: { dispatch: { attempt: 2 } } } });
  });

  it('rejects a result whose required fields are unreadable', () => {
    const bytes = Buffer.concat([raw({}), wireField(11, wireField(1, Uint8Array.of(0xff)))]);

    expect(decodePacket(bytes)).toMatchObject({ kind: 'malformed', code: 101 });
  });

  it('reads an unknown status of a result as FAILED and any other unknown enum value as unspecified', () => {
    const result = decodePacket(raw({ job_result: { job_id: 'j', worker_id: 'w', status: 99 } }));
    const asked = decodePacket(raw({ job_request: { ...request, priority: 42 } }));

    expect(result).toMatchObject({ packet: { body: { status: JobStatus.JOB_STATUS_FAILED } } });
    expect(asked).toMatchObject({ packet: { body: { priority: JobPriority.JOB_PRIORITY_UNSPECIFIED } } });
  });

  it('keeps an error code of an application, which has no name', () => {
    const result = decodePacket(raw({ job_result: { job_id: 'j', worker_id: 'w', status: 6, error_code_enum: 4711 } }));

    expect(result).toMatchObject({ packet: { body: { error_code_enum: 4711 } } });
  });

  it('never throws, whatever the bytes', () => {
    const valid = encodePacket(jobRequestPacket(head, { ...request, labels: { a: 'b' } }));
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.nat({ max: valid.length - 1 }),
        fc.nat(255),
        (junk, at, byte) => {
          const flipped = Uint8Array.from(valid);
          flipped[at] = byte;
          return typeof decodePacket(junk).kind === 'string' && typeof decodePacket(flipped).kind === 'string';
        },
      ),
    );
  });

  it('rejects nesting that would exhaust the stack', () => {
    const group = Buffer.alloc(20_000, 0x0b);

    expect(decodePacket(group).kind).toBe('malformed');
  });
});

describe('builders', () => {
  describe('a packet encoded from its draft reads like one that was built first, lone surrogates included', () => {
    const part = fc.oneof(fc.constantFrom('\ud800', '\udfff', '\ud7ff', '\u00ed', 'a'.repeat(40)), fc.string());
    const text = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''));

    it('a request', () => {
      fc.assert(
        fc.property(fc.dictionary(text, text), fc.array(text), (labels, risk_tags) => {
          const draft = { ...request, labels, meta: { risk_tags } };
          const packet = jobRequestPacket(head, draft);

          expect(decodePacket(encodeJobRequest(head, draft))).toEqual({ kind: 'ok', packet });
        }),
      );
    });

    it('a result', () => {
      fc.assert(
        fc.property(text, fc.array(text), fc.nat(), (error_message, artifact_ptrs, attempt) => {
          const dispatch = { dispatch_id: 'd', attempt };
          const draft = { job_id: 'j', worker_id: 'w', status: 5, dispatch, error_message, artifact_ptrs };
          const packet = jobResultPacket({ ...head, auth_token: 'token' }, draft);

          const bytes = encodeJobResult({ ...head, auth_token: 'token' }, draft);

          expect(bytes).toEqual(encodePacket(packet));
          expect(decodePacket(bytes)).toEqual({ kind: 'ok', packet });
        }),
      );
    });
  });

  it('an alert sets both forms of each duplicated field', () => {
    const { body } = alertPacket(head, { severity: 'critical', message: 'm', code: 103, details: { subject: 'x' } });

    expect(body).toEqual({
      level: 'critical',
      severity: 4,
      message: 'm',
      component: 's',
      source_component: 's',
      code: 'ERROR_CODE_SIGNATURE_INVALID',
      error_code_enum: 103,
      details: { subject: 'x' },
      trace_id: 't',
    });
  });

  it('a result echoes its dispatch', () => {
    const dispatch = { dispatch_id: 'd', attempt: 3, assigned_worker_id: 'w' };
    const packet = jobResultPacket(head, { job_id: 'j', worker_id: 'w', status: 5, dispatch });

    expect(decodePacket(encodePacket(packet))).toMatchObject({ packet: { body: { dispatch } } });
  });
});

describe('names', () => {
  it('priorities are read in any case; an unknown name is undefined', () => {
    expect(['Interactive', 'BATCH', 'critical', 'low', 'normal', 'high'].map(parsePriority)).toEqual([
      1, 2, 3, 2, 1, 3,
    ]);
    expect(['', 'urgent', 'constructor', '__proto__'].map(parsePriority)).toEqual(Array(4).fill(undefined));
  });

  it('statuses have short names', () => {
    expect(jobStatusName(JobStatus.JOB_STATUS_FAILED_RETRYABLE)).toBe('FAILED_RETRYABLE');
    expect(toJobStatus('TIMEOUT')).toBe(9);
  });

  it('older error texts map to a code, unless the typed field is set', () => {
    expect(getErrorCode({ error_code: 'timeout', error_code_enum: 0 })).toBe(200);
    expect(getErrorCode({ error_code: 'timeout', error_code_enum: 201 })).toBe(201);
    expect(getErrorCode({ error_code: 'toString', error_code_enum: 0 })).toBe(0);
  });
});
