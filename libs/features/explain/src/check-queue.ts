import { type Blocker, defaultSettings, isGate, type JobBlocker, limits, type Owner } from '@svc/contract';
import { section } from '@svc/settings';
import { iso, type JobFacts, sinceMs, stageOf } from './job-facts';
import { blocked, type Look, notReached, passed } from './run-job-checks';

const queueOwner: Owner = { kind: 'queue', id: 'jobs' };

/** Whether the queue brings it forward. See docs/architecture.md#the-path-of-a-job. */
export function lookAtQueue(facts: JobFacts): Look {
  const { job, nowMs, standing } = facts;
  const { entry } = standing;
  const stage = stageOf(job);
  if (stage === 'ended' || stage === 'out') return passed('it was taken from the queue');
  if (stage === 'held') return passed('it was decided, and is parked until a person answers');
  if (stage === 'waiting') return noScheduler(facts) ?? passed('it was decided, and is parked until a worker has room');
  if (entry.at === 'absent' || entry.at === 'failed') return blocked(unattended(facts));
  if (entry.isPaused && entry.at !== 'taken') return blocked(paused(facts));
  const isDelayed = entry.at === 'delayed' && (entry.dueMs ?? 0) > nowMs;
  if (isDelayed) return whyDelayed(facts, entry.dueMs ?? nowMs);
  const nobody = noScheduler(facts);
  if (nobody) return nobody;
  if (entry.at === 'taken') return passed('a scheduler looks at it now', queueOwner);
  return blocked({
    kind: 'queue_turn',
    what: entry.hasOthersBefore ? 'others are before it in line to be decided' : 'it is next in line to be decided',
    owner: { ...queueOwner, value: job.request.priority },
    how: 'by itself, as schedulers work off the queue; critical jobs come before interactive and batch ones',
    since: iso(sinceMs(facts)),
    clears_at: null,
  });
}

/** The schedulers renew the picture of workers all the time: when it is old, none of them runs. */
function noScheduler({ nowMs, schedulerSeenMs, settings }: JobFacts): Look | undefined {
  if (schedulerSeenMs !== undefined && nowMs - schedulerSeenMs <= settings.workerTtlMs) return undefined;
  return blocked({
    kind: 'no_scheduler',
    what: 'no scheduler runs',
    owner: { kind: 'service', id: 'scheduler' },
    how: 'a scheduler must be started, or reach Redis again',
    ...(schedulerSeenMs !== undefined && { since: iso(schedulerSeenMs) }),
    clears_at: null,
  });
}

function unattended(facts: JobFacts): Blocker<JobBlocker> {
  const { standing, timeouts } = facts;
  const isFailed = standing.entry.at === 'failed';
  return {
    kind: 'unattended',
    what: isFailed ? 'its queue entry failed for good' : 'no queue entry brings it forward',
    owner: { kind: 'setting', id: 'reconciler.scan_interval_seconds', value: timeouts.reconciler.scan_interval_seconds },
    how: 'the reconciler of the schedulers finds it and gives it a new entry',
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

function whyDelayed(facts: JobFacts, dueMs: number): Look {
  const { job, config } = facts;
  const { waiting_reason: why = '' } = job;
  // Met after the queue, and told there.
  if (['throttled', 'safety_unavailable', 'budget'].includes(why))
    return passed('it was looked at, and is looked at again');
  const known = { since: iso(job.updated_at / 1_000), clears_at: iso(dueMs) };
  if (job.state === 'SCHEDULED') {
    const how = 'it is published again by itself; the bus must take it then';
    const owner: Owner = { kind: 'service', id: 'nats' };
    return blocked({ kind: 'dispatch_failed', what: 'the bus did not take its dispatch', owner, how, ...known, clears_at: null, next_try_at: iso(dueMs) }); // prettier-ignore
  }
  if (why.startsWith('preempted')) {
    const { preemption_enabled: value } = section(config, 'resources', { ...defaultSettings.resources });
    const owner: Owner = { kind: 'setting', id: 'resources.preemption_enabled', value };
    return blocked({ kind: 'preempted', what: 'it made room for a critical job', owner, how: 'by itself', ...known });
  }
  if (job.state === 'RETRYING') {
    const { initial_backoff: value } = section(config, 'retry', { ...defaultSettings.retry });
    const last = job.error_message ? `: ${job.error_message}` : '';
    const what = `it pauses before try ${job.attempts + 1}, ${why || 'after a failure'}${last}`;
    const owner: Owner = { kind: 'setting', id: 'retry.initial_backoff', value };
    return blocked({ kind: 'retry_backoff', what, owner, how: 'by itself', ...known });
  }
  const what = 'the last look at it failed, and the queue brings it again';
  return blocked({ kind: 'queue_turn', what, owner: queueOwner, how: 'by itself', ...known });
}

/** Time that the submitter gave it. What a passed deadline does is told by `gives_up`. */
export function lookAtDeadline({ job, nowMs }: JobFacts): Look {
  if (job.deadline_ms === 0) return passed('it has no deadline');
  const owner: Owner = { kind: 'request', id: 'deadline_ms', value: job.request.deadline_ms };
  const isOver = stageOf(job) !== 'ended' && job.deadline_ms <= nowMs;
  return passed(
    `its deadline ${isOver ? 'has passed: it ends at the next look' : 'is'} ${iso(job.deadline_ms)}`,
    owner,
  );
}

/** Dispatch loops end. */
export function lookAtAttempts(facts: JobFacts): Look {
  const { job } = facts;
  const { schedulingAttempts: most } = limits;
  const owner: Owner = { kind: 'limit', id: 'scheduling attempts', value: most };
  const used = job.attempts - (job.preempted ?? 0);
  if (stageOf(job) !== 'queued' || used < most) return passed(`given out ${job.attempts} times`, owner);
  return blocked({
    kind: 'scheduling_limit',
    what: `it was given out ${job.attempts} times without an end: it ends FAILED at the next look`,
    owner,
    how: 'not at all; submit it anew',
    clears_at: null,
  });
}

/** The topic registry. */
export function lookAtTopic({ job, topic }: JobFacts): Look {
  const stage = stageOf(job);
  if (isGate(job.topic)) return passed('a gate is on a topic of the platform’s own');
  if (stage !== 'queued' && stage !== 'held') return passed(`topic ${job.topic} was open when it was decided`);
  if (topic.kind === 'open') return passed('no topics are registered, so every one is open');
  const isOpen = topic.kind === 'registered' && topic.registration.status !== 'disabled';
  if (isOpen) return passed(`topic ${job.topic} is ${topic.registration.status}`, { kind: 'topic', id: job.topic });
  const status = topic.kind === 'registered' ? 'disabled' : 'unknown';
  const blocker: Blocker<JobBlocker> = {
    kind: 'topic_refused',
    what: `topic ${job.topic} is ${status}: the job ends FAILED when it is next decided`,
    owner: { kind: 'topic', id: job.topic, value: status },
    how: `an admin registers the topic as active`,
    clears_at: null,
  };
  return stage === 'queued' ? blocked(blocker) : { kind: 'ahead', blocker };
}

/** Between the decision to give it out and the worker's having it. */
export function lookAtDispatch(facts: JobFacts): Look {
  const { job, nowMs } = facts;
  switch (stageOf(job)) {
    case 'ended':
      return job.attempts > 0 ? passed(`it was given out ${job.attempts} times`) : notReached('it was never given out');
    case 'out':
      break;
    default:
      return notReached('it has no worker yet');
  }
  const fromMs = (job.dispatched_at ?? 0) / 1_000;
  if (job.state === 'RUNNING') return passed(`it was given to ${job.worker_id ?? 'a worker'} at ${iso(fromMs)}`);
  if (nowMs - fromMs <= publishGraceMs) return passed('it is being published to its worker');
  return blocked({
    kind: 'dispatch_unconfirmed',
    what: `the bus has not confirmed its dispatch to ${job.worker_id ?? 'a worker'}`,
    owner: { kind: 'service', id: 'nats' },
    how: 'it is published again by itself, and the worker takes it once',
    since: iso(fromMs),
    clears_at: null,
  });
}

const publishGraceMs = 5_000;

/** While it is with its worker. */
export function lookAtResult(facts: JobFacts): Look {
  const { job, nowMs, workers, settings } = facts;
  const stage = stageOf(job);
  if (stage === 'ended') return passed(`it ended ${job.state}`);
  if (stage !== 'out') return notReached('it has no worker yet');
  // Without a scheduler nobody hears workers, nor takes their results.
  const nobody = noScheduler(facts);
  if (nobody) return nobody;
  const seen = workers.find(({ id }) => id === job.worker_id);
  const heardMs = Math.max(seen?.lastHeardMs ?? 0, (job.progress_at ?? job.dispatched_at ?? 0) / 1_000);
  if (nowMs - heardMs <= settings.workerTtlMs) return notReached('its worker has not answered yet');
  return blocked({
    kind: 'worker_silent',
    what: `worker ${job.worker_id ?? ''} has not been heard since ${iso(heardMs)}`,
    owner: { kind: 'setting', id: 'WORKER_HEARTBEAT_TTL', value: `${settings.workerTtlMs / 1_000}s` },
    how: 'the schedulers take it back as a failure that may be tried again, unless the worker is heard first',
    since: iso(heardMs),
    clears_at: null,
  });
}
