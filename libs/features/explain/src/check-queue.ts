import { type Blocker, defaultSettings, isGate, type JobBlocker, limits, type Owner } from '@svc/contract';
import { section } from '@svc/settings';
import { iso, type JobFacts, sinceMs, getStage } from './job-facts';
import { blocked, type CheckResult, notReached, passed } from './run-job-checks';

const queueOwner: Owner = { kind: 'queue', id: 'jobs' };

/** Whether its queue entry is being processed. See docs/architecture.md#the-path-of-a-job. */
export function checkQueue(facts: JobFacts): CheckResult {
  const { job, nowMs, position } = facts;
  const { entry } = position;
  const stage = getStage(job);
  if (stage === 'ended' || stage === 'dispatched') return passed('it left the queue');
  if (stage === 'held') return passed('it was decided, and is held for approval');
  if (stage === 'waiting') return noScheduler(facts) ?? passed('it was decided, and waits for a free worker');
  if (entry.at === 'absent' || entry.at === 'failed') return blocked(unqueued(facts));
  if (entry.isPaused && entry.at !== 'taken') return blocked(paused(facts));
  const isDelayed = entry.at === 'delayed' && (entry.dueMs ?? 0) > nowMs;
  if (isDelayed) return whyDelayed(facts, entry.dueMs ?? nowMs);
  const blocker = noScheduler(facts);
  if (blocker) return blocker;
  if (entry.at === 'taken') return passed('a scheduler is processing it now', queueOwner);
  return blocked({
    kind: 'queue_turn',
    what: entry.hasOthersBefore ? 'other jobs are before it in the queue' : 'it is next in the queue',
    owner: { ...queueOwner, value: job.request.priority },
    how: 'automatically, as schedulers process the queue; critical jobs come before interactive and batch ones',
    since: iso(sinceMs(facts)),
    clears_at: null,
  });
}

/** Schedulers refresh the worker snapshot continuously: an old one means that none runs. */
function noScheduler({ nowMs, schedulerSeenMs, settings }: JobFacts): CheckResult | undefined {
  if (schedulerSeenMs !== undefined && nowMs - schedulerSeenMs <= settings.workerTtlMs) return undefined;
  return blocked({
    kind: 'no_scheduler',
    what: 'no scheduler runs',
    owner: { kind: 'service', id: 'scheduler' },
    how: 'a scheduler must be started, or reconnect to Redis',
    ...(schedulerSeenMs !== undefined && { since: iso(schedulerSeenMs) }),
    clears_at: null,
  });
}

function unqueued(facts: JobFacts): Blocker<JobBlocker> {
  const { position, timeouts } = facts;
  const isFailed = position.entry.at === 'failed';
  return {
    kind: 'unattended',
    what: isFailed ? 'its queue entry failed for good' : 'it has no queue entry',
    owner: { kind: 'setting', id: 'reconciler.scan_interval_seconds', value: timeouts.reconciler.scan_interval_seconds },
    how: 'the reconciler of the schedulers will requeue it',
    since: iso(sinceMs(facts)),
    clears_at: null,
  }; // prettier-ignore
}

const paused = (facts: JobFacts): Blocker<JobBlocker> => ({
  kind: 'queue_paused',
  what: 'the queue of jobs to decide is paused',
  owner: { ...queueOwner, value: 'paused' },
  how: 'an operator must resume it',
  since: iso(sinceMs(facts)),
  clears_at: null,
});

function whyDelayed(facts: JobFacts, dueMs: number): CheckResult {
  const { job, config } = facts;
  const { waiting_reason: why = '' } = job;
  // Reported by its own check, later.
  if (['throttled', 'safety_unavailable', 'budget'].includes(why))
    return passed('it was processed, and will be retried');
  const known = { since: iso(job.updated_at / 1_000), clears_at: iso(dueMs) };
  if (job.state === 'SCHEDULED') {
    const how = 'it is republished automatically; NATS must accept it';
    const owner: Owner = { kind: 'service', id: 'nats' };
    return blocked({ kind: 'dispatch_failed', what: 'its dispatch could not be published', owner, how, ...known, clears_at: null, next_try_at: iso(dueMs) }); // prettier-ignore
  }
  if (why.startsWith('preempted')) {
    const { preemption_enabled: value } = section(config, 'resources', { ...defaultSettings.resources });
    const owner: Owner = { kind: 'setting', id: 'resources.preemption_enabled', value };
    return blocked({
      kind: 'preempted',
      what: 'it was preempted by a critical job',
      owner,
      how: 'automatically',
      ...known,
    });
  }
  if (job.state === 'RETRYING') {
    const { initial_backoff: value } = section(config, 'retry', { ...defaultSettings.retry });
    const last = job.error_message ? `: ${job.error_message}` : '';
    const what = `it waits for attempt ${job.attempts + 1}, ${why || 'after a failure'}${last}`;
    const owner: Owner = { kind: 'setting', id: 'retry.initial_backoff', value };
    return blocked({ kind: 'retry_backoff', what, owner, how: 'automatically', ...known });
  }
  const what = 'the last attempt to process it failed, and the queue retries it';
  return blocked({ kind: 'queue_turn', what, owner: queueOwner, how: 'automatically', ...known });
}

/** Its deadline. The effect of a passed deadline is in `gives_up`. */
export function checkDeadline({ job, nowMs }: JobFacts): CheckResult {
  if (job.deadline_ms === 0) return passed('it has no deadline');
  const owner: Owner = { kind: 'request', id: 'deadline_ms', value: job.request.deadline_ms };
  const isOver = getStage(job) !== 'ended' && job.deadline_ms <= nowMs;
  return passed(
    `its deadline ${isOver ? 'has passed: it ends at the next attempt' : 'is'} ${iso(job.deadline_ms)}`,
    owner,
  );
}

/** The limit on dispatches. */
export function checkAttempts(facts: JobFacts): CheckResult {
  const { job } = facts;
  const { schedulingAttempts: maxAttempts } = limits;
  const owner: Owner = { kind: 'limit', id: 'scheduling attempts', value: maxAttempts };
  const used = job.attempts - (job.preempted ?? 0);
  if (getStage(job) !== 'queued' || used < maxAttempts) return passed(`dispatched ${job.attempts} times`, owner);
  return blocked({
    kind: 'scheduling_limit',
    what: `it was dispatched ${job.attempts} times without a result: it ends FAILED at the next attempt`,
    owner,
    how: 'it cannot continue; submit a new job',
    clears_at: null,
  });
}

/** Whether the topic is registered and active. */
export function checkTopic({ job, topic }: JobFacts): CheckResult {
  const stage = getStage(job);
  if (isGate(job.topic)) return passed('approval steps use a built-in topic');
  if (stage !== 'queued' && stage !== 'held') return passed(`topic ${job.topic} was open when it was decided`);
  if (topic.kind === 'open') return passed('no topics are registered, so every topic is open');
  const isOpen = topic.kind === 'registered' && topic.registration.status !== 'disabled';
  if (isOpen) return passed(`topic ${job.topic} is ${topic.registration.status}`, { kind: 'topic', id: job.topic });
  const status = topic.kind === 'registered' ? 'disabled' : 'unknown';
  const blocker: Blocker<JobBlocker> = {
    kind: 'topic_refused',
    what: `topic ${job.topic} is ${status}: the job ends FAILED when it is next decided`,
    owner: { kind: 'topic', id: job.topic, value: status },
    how: 'an admin must register the topic as active',
    clears_at: null,
  };
  return stage === 'queued' ? blocked(blocker) : { kind: 'ahead', blocker };
}

/** Whether its dispatch reached the worker. */
export function checkDispatch(facts: JobFacts): CheckResult {
  const { job, nowMs } = facts;
  switch (getStage(job)) {
    case 'ended':
      return job.attempts > 0
        ? passed(`it was dispatched ${job.attempts} times`)
        : notReached('it was never dispatched');
    case 'dispatched':
      break;
    default:
      return notReached('it has no worker yet');
  }
  const fromMs = (job.dispatched_at ?? 0) / 1_000;
  if (job.state === 'RUNNING') return passed(`it was dispatched to ${job.worker_id ?? 'a worker'} at ${iso(fromMs)}`);
  if (nowMs - fromMs <= publishGraceMs) return passed('it is being published to its worker');
  return blocked({
    kind: 'dispatch_unconfirmed',
    what: `the bus has not confirmed its dispatch to ${job.worker_id ?? 'a worker'}`,
    owner: { kind: 'service', id: 'nats' },
    how: 'it is republished automatically; the worker runs it once',
    since: iso(fromMs),
    clears_at: null,
  });
}

const publishGraceMs = 5_000;

/** Whether its worker is alive, while it runs. */
export function checkResult(facts: JobFacts): CheckResult {
  const { job, nowMs, workers, settings } = facts;
  const stage = getStage(job);
  if (stage === 'ended') return passed(`it ended ${job.state}`);
  if (stage !== 'dispatched') return notReached('it has no worker yet');
  // Without a scheduler no heartbeats and results are processed.
  const blocker = noScheduler(facts);
  if (blocker) return blocker;
  const seen = workers.find(({ id }) => id === job.worker_id);
  const lastSignMs = Math.max(seen?.lastHeartbeatMs ?? 0, (job.progress_at ?? job.dispatched_at ?? 0) / 1_000);
  if (nowMs - lastSignMs <= settings.workerTtlMs) return notReached('its worker has not returned a result yet');
  return blocked({
    kind: 'worker_silent',
    what: `worker ${job.worker_id ?? ''} has sent no heartbeat since ${iso(lastSignMs)}`,
    owner: { kind: 'setting', id: 'WORKER_HEARTBEAT_TTL', value: `${settings.workerTtlMs / 1_000}s` },
    how: 'the schedulers fail the attempt as retryable, unless the worker sends a heartbeat first',
    since: iso(lastSignMs),
    clears_at: null,
  });
}
