import { decodePacket, encodePacket, packetToJson, type Packet } from '../index';
import { bytes, double, entry, float, hex, int, text } from './wire-writer.testing';

const head = (sender: string) => [
  ...text(1, 'trace-1'),
  ...text(2, sender),
  ...bytes(3, [...int(1, 1_790_000_000), ...int(2, 250_000_000)]),
  ...int(4, 1),
];

const dispatch = [...text(1, 'd-1'), ...int(2, 2), ...text(3, 'w-1')];
const dispatchJson = { dispatchId: 'd-1', attempt: 2, assignedWorkerId: 'w-1' };
const identity = [...text(1, 'acme'), ...text(2, 'ada'), ...text(3, 'bot'), ...text(4, 'del-1')];
const identityJson = { tenantId: 'acme', principalId: 'ada', actorId: 'bot', delegationId: 'del-1' };
const resource = [
  ...text(1, 'redis'),
  ...text(2, 'redis://res:job-1'),
  ...bytes(3, [1, 2, 255]),
  ...text(4, 'application/json'),
  ...int(5, 1_073_741_824),
  ...bytes(6, [...int(1, 1_790_000_000), ...int(2, 5)]),
  ...text(7, 'result'),
];
const resourceJson = {
  resolverId: 'redis',
  uri: 'redis://res:job-1',
  sha256: 'AQL/',
  mediaType: 'application/json',
  sizeBytes: 1_073_741_824,
  expiresAt: { seconds: 1_790_000_000, nanos: 5 },
  purpose: 'result',
};

const request = [
  ...text(1, 'job-1'),
  ...text(2, 'job.demo.echo'),
  ...int(3, 2),
  ...text(4, 'redis://ctx:job-1'),
  ...text(5, 'adapter'),
  ...entry(6, 'tenant_id', 'acme'),
  ...text(7, 'parent'),
  ...text(8, 'wf'),
  ...int(9, 3),
  ...text(10, 'mem'),
  ...bytes(11, [...int(1, 10), ...int(2, 1), ...int(3, 1), ...text(4, 'tag')]),
  ...bytes(12, [...int(1, 11), ...int(2, 12), ...int(3, 13), ...int(4, 4_503_599_627_370_496)]),
  ...text(13, 'acme'),
  ...text(14, 'ada'),
  ...entry(15, 'B', '2'),
  ...bytes(16, [
    ...text(1, 'acme'),
    ...text(2, 'bot'),
    ...int(3, 2),
    ...text(4, 'idem'),
    ...text(5, 'cap'),
    ...text(6, 'risk'),
    ...text(7, 'gpu'),
    ...text(8, 'pack'),
    ...entry(9, 'k', 'v'),
  ]),
  ...bytes(17, [
    ...text(1, 'job.undo'),
    ...int(3, 1),
    ...text(9, 'acme'),
    ...entry(11, 'u', 'x'),
    ...bytes(13, identity),
    ...bytes(14, dispatch),
    ...bytes(15, resource),
  ]),
  ...bytes(18, identity),
  ...bytes(19, dispatch),
  ...bytes(20, resource),
];

const vectors: Record<string, { wire: string; json: object }> = {
  job_request: {
    wire: hex([...head('gateway'), ...bytes(10, request)]),
    json: {
      senderId: 'gateway',
      jobRequest: {
        jobId: 'job-1',
        topic: 'job.demo.echo',
        priority: 'JOB_PRIORITY_BATCH',
        contextPtr: 'redis://ctx:job-1',
        adapterId: 'adapter',
        env: { tenant_id: 'acme' },
        parentJobId: 'parent',
        workflowId: 'wf',
        stepIndex: 3,
        memoryId: 'mem',
        contextHints: { maxInputTokens: 10, allowSummarization: true, allowRetrieval: true, tags: ['tag'] },
        budget: { maxInputTokens: 11, maxOutputTokens: 12, maxTotalTokens: 13, deadlineMs: 4_503_599_627_370_496 },
        tenantId: 'acme',
        principalId: 'ada',
        labels: { B: '2' },
        meta: {
          tenantId: 'acme',
          actorId: 'bot',
          actorType: 'ACTOR_TYPE_SERVICE',
          idempotencyKey: 'idem',
          capability: 'cap',
          riskTags: ['risk'],
          requires: ['gpu'],
          packId: 'pack',
          labels: { k: 'v' },
        },
        compensation: {
          topic: 'job.undo',
          priority: 'JOB_PRIORITY_INTERACTIVE',
          tenantId: 'acme',
          labels: { u: 'x' },
          identity: identityJson,
          dispatch: dispatchJson,
          contextRef: resourceJson,
        },
        identity: identityJson,
        dispatch: dispatchJson,
        contextRef: resourceJson,
      },
    },
  },
  job_result: {
    wire: hex([
      ...head('w-1'),
      ...bytes(11, [
        ...text(1, 'job-1'),
        ...int(2, 11),
        ...text(3, 'redis://res:job-1'),
        ...text(4, 'w-1'),
        ...int(5, 1234),
        ...text(6, 'boom'),
        ...text(7, 'it broke'),
        ...text(8, 'redis://art:1'),
        ...int(9, 201),
        ...bytes(10, dispatch),
        ...bytes(11, identity),
        ...bytes(12, resource),
        ...bytes(13, resource),
        ...bytes(13, text(2, 'redis://art:2')),
        ...double(1000, 0.25),
      ]),
      ...text(18, 'secret-token'),
    ]),
    json: {
      senderId: 'w-1',
      jobResult: {
        jobId: 'job-1',
        status: 'JOB_STATUS_FAILED_FATAL',
        resultPtr: 'redis://res:job-1',
        workerId: 'w-1',
        executionMs: 1234,
        errorCode: 'boom',
        errorMessage: 'it broke',
        artifactPtrs: ['redis://art:1'],
        errorCodeEnum: 'ERROR_CODE_RESOURCE_EXHAUSTED',
        dispatch: dispatchJson,
        identity: identityJson,
        resultRef: resourceJson,
        artifactRefs: [resourceJson, { uri: 'redis://art:2' }],
        costUsd: 0.25,
      },
    },
  },
  heartbeat: {
    wire: hex([
      ...head('w-1'),
      ...bytes(12, [
        ...text(1, 'w-1'),
        ...text(2, 'eu'),
        ...text(3, 'gpu'),
        ...float(4, 12.3),
        ...float(5, 50),
        ...int(6, 1),
        ...text(7, 'llm'),
        ...text(11, 'default'),
        ...int(12, 4),
        ...entry(13, 'zone', 'a'),
        ...float(14, 1.5),
        ...int(15, 7),
        ...text(16, 'memo'),
        ...text(18, 'credential'),
        ...text(19, 'Ada'),
        ...text(1000, 'job-1'),
      ]),
    ]),
    json: {
      senderId: 'w-1',
      heartbeat: {
        workerId: 'w-1',
        region: 'eu',
        type: 'gpu',
        cpuLoad: 12.3,
        gpuUtilization: 50,
        activeJobs: 1,
        capabilities: ['llm'],
        pool: 'default',
        maxParallelJobs: 4,
        labels: { zone: 'a' },
        memoryLoad: 1.5,
        progressPct: 7,
        lastMemo: 'memo',
        agentName: 'Ada',
        runningJobs: ['job-1'],
      },
    },
  },
  alert: {
    wire: hex([
      ...head('scheduler'),
      ...bytes(13, [
        ...text(1, 'error'),
        ...text(2, 'bad packet'),
        ...text(3, 'scheduler'),
        ...text(4, 'ERROR_CODE_MALFORMED_PACKET'),
        ...int(5, 3),
        ...int(6, 101),
        ...text(7, 'scheduler'),
        ...entry(8, 'subject', 'sys.job.result'),
        ...text(9, 'trace-1'),
      ]),
    ]),
    json: {
      senderId: 'scheduler',
      alert: {
        level: 'error',
        message: 'bad packet',
        component: 'scheduler',
        code: 'ERROR_CODE_MALFORMED_PACKET',
        severity: 'ALERT_SEVERITY_ERROR',
        errorCodeEnum: 'ERROR_CODE_MALFORMED_PACKET',
        sourceComponent: 'scheduler',
        details: { subject: 'sys.job.result' },
        traceId: 'trace-1',
      },
    },
  },
  job_progress: {
    wire: hex([
      ...head('w-1'),
      ...bytes(15, [
        ...text(1, 'job-1'),
        ...text(2, 's'),
        ...int(3, 40),
        ...text(4, 'half'),
        ...text(5, 'redis://res:job-1'),
        ...text(6, 'redis://art:1'),
        ...int(7, 4),
        ...bytes(8, dispatch),
        ...bytes(9, identity),
        ...bytes(10, resource),
        ...bytes(11, resource),
      ]),
    ]),
    json: {
      senderId: 'w-1',
      jobProgress: {
        jobId: 'job-1',
        stepId: 's',
        percent: 40,
        message: 'half',
        resultPtr: 'redis://res:job-1',
        artifactPtrs: ['redis://art:1'],
        status: 'JOB_STATUS_RUNNING',
        dispatch: dispatchJson,
        identity: identityJson,
        resultRef: resourceJson,
        artifactRefs: [resourceJson],
      },
    },
  },
  job_cancel: {
    wire: hex([
      ...head('gateway'),
      ...bytes(5, [...text(1, 'v1'), ...text(2, 'alg'), ...bytes(3, [7]), ...text(4, 'aud'), ...text(6, 'key')]),
      ...bytes(6, identity),
      ...bytes(16, [
        ...text(1, 'job-1'),
        ...text(2, 'why'),
        ...text(3, 'ada'),
        ...bytes(4, dispatch),
        ...bytes(5, identity),
        ...int(1000, 30),
      ]),
    ]),
    json: {
      senderId: 'gateway',
      identity: identityJson,
      jobCancel: {
        jobId: 'job-1',
        reason: 'why',
        requestedBy: 'ada',
        dispatch: dispatchJson,
        identity: identityJson,
        graceSec: 30,
      },
    },
  },
  handshake: {
    wire: hex([
      ...head('w-1'),
      ...bytes(17, [
        ...text(1, 'w-1'),
        ...int(2, 3),
        ...bytes(3, [1]),
        ...bytes(4, [...text(1, 'progress'), ...int(2, 1)]),
        ...text(5, '1.0.0'),
        ...text(6, 'job.demo.echo'),
        ...text(7, 'Ada'),
      ]),
    ]),
    json: {
      senderId: 'w-1',
      handshake: {
        componentId: 'w-1',
        role: 'COMPONENT_ROLE_WORKER',
        supportedVersions: [1],
        capabilities: { progress: true },
        sdkVersion: '1.0.0',
        readyTopics: ['job.demo.echo'],
        agentName: 'Ada',
      },
    },
  },
};

const decoded = (wire: string): Packet => {
  const result = decodePacket(Buffer.from(wire, 'hex'));
  if (result.kind !== 'ok') throw new Error(`${result.kind}: ${result.reason}`);
  return result.packet;
};

describe('packets from an independent encoder', () => {
  const common = {
    traceId: 'trace-1',
    createdAt: { seconds: 1_790_000_000, nanos: 250_000_000 },
    protocolVersion: '1',
  };

  it.each(Object.entries(vectors))(
    '%s: every field is read, under the name stream clients know',
    (_, { wire, json }) => {
      expect(packetToJson(decoded(wire))).toEqual({ ...common, ...json });
    },
  );

  it.each(Object.entries(vectors))('%s: encodes to the same bytes', (_, { wire }) => {
    expect(Buffer.from(encodePacket(decoded(wire))).toString('hex')).toBe(wire);
  });

  it('a token or signature never reaches a stream client', () => {
    const wire = vectors['job_result']?.wire ?? '';
    const packet = { ...decoded(wire), signature: Buffer.from('signed') };

    expect(packet.auth_token).toBe('secret-token');
    expect(JSON.stringify(packetToJson(packet))).not.toMatch(/secret-token|credential|c2lnbmVk/);
    expect(JSON.stringify(packetToJson(decoded(vectors['heartbeat']?.wire ?? '')))).not.toContain('credential');
  });

  it.each(['job_request', 'job_result'] as const)('inline data of a %s never reaches a stream client', (kind) => {
    const packet = decoded(vectors[kind]?.wire ?? '');
    const inline = {
      inline_input: Buffer.from('in'),
      inline_result: Buffer.from('out'),
      result_ticket: Buffer.from('t'),
    };

    const text = JSON.stringify(packetToJson({ ...packet, body: { ...packet.body, ...inline } } as Packet));

    expect(text).not.toMatch(/inlineInput|inlineResult|resultTicket/);
  });
});
