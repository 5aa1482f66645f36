import {
  bootIdLabel,
  ComponentRole,
  encodePacket,
  heartbeatPacket,
  inlineDataLabel,
  jobRequestPacket,
  jobStatusName,
  maxInlineBytes,
  maxPacketBytes,
  protocolVersion,
  workerIdPattern,
} from '@svc/contract';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { tenant, type Received, type Sent } from './platform';
import { maxHeartbeatGapMs, type Session } from './session';
import { NotApplicable, require } from './verdict';

export interface Check {
  id: string;
  title: string;
  /** The process of the worker may end. */
  stopsWorker?: true;
  /** @throws Mismatch, NotApplicable */
  run(session: Session): Promise<void>;
}

const failures = ['FAILED', 'FAILED_RETRYABLE', 'FAILED_FATAL', 'DENIED'];
const longSec = 600;
const sentinel = 'written by the conformance test';

/** All checks, in the order in which they run; see docs/reference/worker-protocol.md#conformance. */
export const checks: readonly Check[] = [
  {
    id: 'success',
    title: 'A job succeeds; its result is stored under the job’s own key',
    async run(session) {
      const sent = await session.dispatch('echo');
      const result = await session.succeeded(sent);
      await checkResult(session, sent, result);
    },
  },
  {
    id: 'dispatch_echo',
    title: 'Results name the dispatch and the tenant of their request',
    async run(session) {
      const sent = await session.dispatch('echo', { attempt: 3 });
      const { body } = await session.succeeded(sent);
      session.requireDispatchEcho();
      require(body.dispatch?.dispatch_id === sent.dispatch.dispatch_id &&
        body.dispatch.attempt ===
          3, `dispatch ${sent.dispatch.dispatch_id}, attempt 3`, `dispatch ${body.dispatch?.dispatch_id ?? 'none'}, attempt ${body.dispatch?.attempt ?? 'none'}`);
      const named = body.identity?.tenant_id ?? '';
      require(['', tenant].includes(named), `tenant ${tenant}`, named);
    },
  },
  {
    id: 'failure',
    title: 'A failed job is reported as failed, with a code or a message',
    async run(session) {
      const { body } = await session.result(await session.dispatch('fail'));
      require(failures.includes(jobStatusName(body.status)), failures.join(', '), jobStatusName(body.status));
      require(body.error_code !== '' || body.error_message !== '', 'error_code or error_message', 'neither');
    },
  },
  {
    id: 'late_ack',
    title: 'A message is acknowledged after the result was published, and not before',
    async run(session) {
      const { platform, workerId, options } = session;
      const sent = await session.dispatchSlow();
      const result = await session.succeeded(sent, options.answerMs + options.slowSec * 1_000);
      if (!(await platform.hasConsumer(workerId)))
        throw new NotApplicable('it subscribes with core NATS, which has no acknowledgements');
      if (platform.receiptsHidden)
        throw new NotApplicable('the NATS user of this program may not subscribe to $JS.ACK.>');
      const acknowledged = await platform.until(() => platform.acknowledgement(sent), options.answerMs);
      require(acknowledged !== undefined, 'an acknowledgement after the result', 'none');
      // Both come over the connection of the worker, so they arrive in the order in which it sent them.
      require(acknowledged.atMs >= result.atMs, 'the result first', 'the acknowledgement first');
    },
  },
  {
    id: 'duplicate_running',
    title: 'A dispatch that is delivered again while it runs is executed once',
    async run(session) {
      const sent = await session.dispatchSlow();
      const slowMs = session.options.slowSec * 1_000;
      // A second execution then ends later than the first, and its result is recognized.
      await sleep(slowMs / 2);
      await session.platform.repeat(session.workerId, sent);
      const { body } = await session.succeeded(sent, session.options.answerMs + slowMs);
      await checkExecutedOnce(session, sent, body.result_ptr, () => session.settle('slow'));
    },
  },
  {
    id: 'duplicate_finished',
    title: 'A dispatch that is delivered again after its result is executed once',
    async run(session) {
      const sent = await session.dispatch('echo');
      const { body } = await session.succeeded(sent);
      await checkExecutedOnce(session, sent, body.result_ptr, async () => {
        await session.platform.repeat(session.workerId, sent);
        await session.settle();
      });
    },
  },
  {
    id: 'cancel',
    title: 'A cancel stops the job within its grace period',
    async run(session) {
      const sent = await session.startSlow(longSec);
      const cancelledAtMs = performance.now();
      session.platform.cancel(sent.request.job_id, sent.dispatch, session.options.graceSec);
      const isIdle = ({ atMs, body }: Received<'heartbeat'>) => atMs > cancelledAtMs && body.active_jobs === 0;
      const ended = await session.platform.until(
        () => session.platform.results(sent)[0] ?? session.heartbeats().find(isIdle),
        session.options.graceSec * 1_000 + session.options.answerMs,
      );
      require(ended !== undefined, 'a result or an idle worker within the grace period', 'the job still runs');
      if (ended.kind === 'job_result') {
        require(jobStatusName(ended.body.status) === 'CANCELLED', 'CANCELLED', jobStatusName(ended.body.status));
      }
    },
  },
  {
    id: 'cancel_older_dispatch',
    title: 'A cancel of an earlier dispatch, or of another job, stops nothing',
    async run(session) {
      session.requireDispatchEcho();
      const { slowSec, settleMs, answerMs } = session.options;
      const seconds = slowSec + settleMs / 1_000;
      // A cancel that precedes its dispatch stops nothing in any worker.
      const sent = await session.startSlow(seconds, { attempt: 2 });
      const older = { ...sent.dispatch, dispatch_id: randomUUID(), attempt: 1 };
      session.platform.cancel(randomUUID(), older, session.options.graceSec);
      session.platform.cancel(sent.request.job_id, older, session.options.graceSec);
      await session.succeeded(sent, answerMs + seconds * 1_000);
    },
  },
  {
    id: 'lease_loss',
    title: 'A new dispatch of a job whose lease was lost runs, and its result names it',
    async run(session) {
      session.requireDispatchEcho();
      const first = await session.startSlow(longSec);
      session.platform.cancel(first.request.job_id, first.dispatch, session.options.graceSec);
      const { job_id: jobId } = first.request;
      const second = await session.dispatchSlow(session.options.slowSec, { jobId, attempt: 2 });
      const withinMs = session.options.graceSec * 1_000 + session.options.answerMs + session.options.slowSec * 1_000;
      const { body } = await session.succeeded(second, withinMs);
      require(body.dispatch?.dispatch_id ===
        second.dispatch.dispatch_id, `the dispatch ${second.dispatch.dispatch_id}`, body.dispatch?.dispatch_id ??
        'none');
    },
  },
  {
    id: 'oversize_input',
    title: 'An input larger than a packet is read through its pointer',
    async run(session) {
      await session.succeeded(await session.dispatch('echo', { input: { prompt: 'x'.repeat(2 * maxPacketBytes) } }));
    },
  },
  {
    id: 'oversize_result',
    title: 'A result of more than 64 KiB is stored, and never part of the message',
    async run(session) {
      const result_ticket = session.label(inlineDataLabel) === 'true' ? randomBytes(32) : undefined;
      const input = { prompt: 'y'.repeat(4 * maxInlineBytes) };
      const sent = await session.dispatch('echo', { input, draft: { ...(result_ticket && { result_ticket }) } });
      const result = await session.succeeded(sent);
      const inlineBytes = result.body.inline_result.length;
      require(inlineBytes <=
        maxInlineBytes, `an inline result of at most ${maxInlineBytes} bytes`, `${inlineBytes} bytes`);
      require(result.bytes <= 2 * maxInlineBytes, 'a small result message', `${result.bytes} bytes`);
      await checkResult(session, sent, result);
      const stored = inlineBytes > 0 ? null : await session.platform.readBody(result.body.result_ptr);
      if ((stored?.length ?? inlineBytes) < maxInlineBytes) {
        throw new NotApplicable(`the result of ${sent.request.topic} is not as large as its input`);
      }
    },
  },
  {
    id: 'inline_data',
    title: 'Inputs in the dispatch are used, and inline results have the ticket of the dispatch',
    async run(session) {
      if (session.label(inlineDataLabel) !== 'true') throw new NotApplicable(`no label ${inlineDataLabel}`);
      const result_ticket = randomBytes(48);
      const prompt = randomUUID();
      const inline_input = Buffer.from(JSON.stringify({ prompt }));
      const sent = await session.dispatch('echo', { draft: { inline_input, result_ticket } });
      const result = await session.succeeded(sent);
      const { inline_result, result_ticket: returned } = result.body;
      if (inline_result.length === 0) {
        require(returned.length === 0, 'a ticket only with an inline result', 'a ticket without one');
        return checkResult(session, sent, result);
      }
      require(Buffer.compare(returned, result_ticket) ===
        0, 'the ticket of the dispatch', `${returned.length} other bytes`);
      checkPointer(sent, result.body.result_ptr, ['']);
      const body = Buffer.from(inline_result).toString();
      require(!body.includes('conformance'), `a result of the inline input`, 'a result of the stored input');
    },
  },
  {
    id: 'wrong_tenant',
    title: 'A dispatch whose tenant is contradictory is not executed',
    async run(session) {
      const env = { tenant_id: 'another-tenant' };
      const sent = await session.dispatch('echo', { draft: { env } });
      await session.settle();
      await session.notExecuted(sent, 'no execution, since tenant_id differs from env');
    },
  },
  {
    id: 'foreign_dispatch',
    title: 'A dispatch that is assigned to another worker is not executed',
    async run(session) {
      session.requireDispatchEcho();
      const dispatch = { dispatch_id: randomUUID(), attempt: 1, assigned_worker_id: 'another-worker' };
      const sent = await session.dispatch('echo', { draft: { dispatch } });
      await session.settle();
      await session.notExecuted(sent, 'no execution, since assigned_worker_id is another worker');
    },
  },
  {
    id: 'malformed',
    title: 'Malformed packets do not stop the worker',
    async run(session) {
      const boot = session.label(bootIdLabel);
      const head = { trace_id: '', sender_id: 'scheduler', nowUs: Date.now() * 1_000 };
      const request = jobRequestPacket(head, { job_id: randomUUID(), topic: session.topic('echo') });
      const valid = encodePacket(request);
      const malformed = [
        Buffer.from('no packet'),
        Buffer.alloc(0),
        randomBytes(512),
        valid.subarray(0, valid.length - 5),
        encodePacket(heartbeatPacket(head, { worker_id: 'x' })),
        encodePacket(jobRequestPacket(head, { job_id: '', topic: '' })),
      ];
      for (const bytes of malformed) await session.platform.sendRaw(session.workerId, bytes);
      await session.succeeded(await session.dispatch('echo'));
      require(session.label(bootIdLabel) === boot, 'the same process', 'a restarted worker');
    },
  },
  {
    id: 'progress',
    title: 'Progress is between 0 and 100 and names its dispatch',
    async run(session) {
      const reports = session.platform.from('job_progress', session.workerId);
      if (reports.length === 0) throw new NotApplicable('none of its jobs reported progress');
      for (const { body } of reports) {
        require(body.percent >= 0 && body.percent <= 100, 'percent from 0 to 100', String(body.percent));
        if (session.platform.from('job_result', session.workerId).some((result) => result.body.dispatch?.dispatch_id)) {
          require(Boolean(body.dispatch?.dispatch_id), 'the dispatch, as in its results', 'none');
        }
      }
    },
  },
  {
    id: 'handshake',
    title: 'The handshake is that of a worker of this protocol version',
    async run(session) {
      const sent = session.platform.from('handshake', session.workerId);
      if (sent.length === 0) throw new NotApplicable('it sends no handshake');
      for (const { body, sender_id } of sent) {
        require(body.component_id === sender_id, `component_id ${sender_id}, as sender_id`, body.component_id);
        require(body.role === ComponentRole.COMPONENT_ROLE_WORKER, 'COMPONENT_ROLE_WORKER', ComponentRole[body.role] ??
          String(body.role));
        require(body.supported_versions.includes(
          protocolVersion,
        ), `supported_versions with ${protocolVersion}`, `[${body.supported_versions.join(', ')}]`);
        const invalid = Object.keys(body.capabilities).find((name) => !/^[a-z][a-z0-9_.-]{0,63}$/.test(name));
        require(invalid === undefined, 'ability names of lower-case letters, digits, `_`, `.` and `-`', invalid ?? '');
      }
    },
  },
  {
    id: 'heartbeat',
    title: 'Heartbeats are valid, and at least three arrive in the time after which a worker is lost',
    async run(session) {
      const { platform, workerId, options } = session;
      const first = session.heartbeats().length;
      await platform.until(() => session.heartbeats()[Math.max(1, first)], maxHeartbeatGapMs);
      const beats = session.heartbeats();
      for (const { sender_id, body } of beats) {
        require(sender_id === body.worker_id, `sender_id ${body.worker_id}, as worker_id`, sender_id);
        require(workerIdPattern.test(body.worker_id), 'a worker id of letters, digits, `_` and `-`', body.worker_id);
        require(body.pool === options.pool, `pool ${options.pool}`, body.pool);
        require(body.active_jobs >= 0 && body.max_parallel_jobs >= 0, 'counts from 0', 'a negative number');
      }
      const times = [...beats.map(({ atMs }) => atMs), performance.now()];
      const gapMs = Math.max(...times.slice(1).map((atMs, i) => atMs - (times[i] ?? atMs)));
      require(gapMs <=
        maxHeartbeatGapMs, `a heartbeat of ${workerId} at least every ${maxHeartbeatGapMs / 1_000} s`, `none for ${Math.round(gapMs / 1_000)} s`);
    },
  },
  {
    id: 'drain',
    title: 'A worker that is stopped finishes or returns its job, and accepts no other',
    stopsWorker: true,
    async run(session) {
      const { process, slowSec, answerMs, settleMs } = session.options;
      if (!process) throw new NotApplicable('its process is unknown: name it with --pid, or let this program start it');
      const seconds = slowSec + settleMs / 1_000;
      const sent = await session.startSlow(seconds);
      process.drain();
      const { platform, workerId } = session;
      // A worker that does not announce that it drains has received the signal before its job ends.
      const isDraining = () =>
        platform.from('handshake', workerId).find(({ body }) => body.capabilities['x-draining']) ??
        platform.results(sent)[0];
      await Promise.race([platform.until(isDraining, answerMs), process.ended]);
      const late = await session.dispatch('echo');
      const { body } = await session.result(sent, answerMs + seconds * 1_000);
      const status = jobStatusName(body.status);
      require(['SUCCEEDED', 'FAILED_RETRYABLE'].includes(status), 'SUCCEEDED or FAILED_RETRYABLE', status);
      await session.notExecuted(late, 'no execution of a job that was dispatched after the stop');
      const timeUp = sleep(3 * answerMs, false, { ref: false });
      const isOver = await Promise.race([process.ended.then(() => true), timeUp]);
      require(isOver, 'the end of the process', 'it still runs');
    },
  },
];

/** The result belongs to the dispatch, and its body can be read. */
async function checkResult(session: Session, sent: Sent, result: Received<'job_result'>): Promise<void> {
  const { body, sender_id, trace_id } = result;
  require(body.worker_id === session.workerId, `worker_id ${session.workerId}`, body.worker_id);
  require(sender_id === session.workerId, `sender_id ${session.workerId}`, sender_id);
  require(trace_id === sent.traceId, `trace_id ${sent.traceId} of the dispatch`, trace_id || 'none');
  if (body.inline_result.length > 0) return;
  checkPointer(sent, body.result_ptr, []);
  const stored = await session.platform.readBody(body.result_ptr);
  require(stored !== null, `a body at ${body.result_ptr}`, 'none');
}

function checkPointer({ request }: Sent, pointer: string, others: readonly string[]): void {
  const own = `redis://res:${request.job_id}`;
  const isOwn = pointer === own || pointer.startsWith(`${own}:`) || others.includes(pointer);
  require(isOwn, `the pointer ${own}`, pointer || 'none');
}

/** A second execution overwrites the stored body, or publishes another result. */
async function checkExecutedOnce(
  session: Session,
  sent: Sent,
  pointer: string,
  act: () => Promise<void>,
): Promise<void> {
  const { platform } = session;
  if (pointer) await platform.writeBody(pointer, sentinel);
  await act();
  const bodies = new Set(platform.results(sent).map(({ body }) => JSON.stringify(body)));
  require(bodies.size === 1, 'one result, or the same again', `${bodies.size} different results`);
  const stored = pointer ? String(await platform.readBody(pointer)) : sentinel;
  require(stored === sentinel, 'one execution', 'the result was stored a second time');
}
