import { AppError, getJob as endpoint } from '@svc/contract';
import { stream } from '@svc/grpc';
import { followCredential } from '@svc/http';
import { isTerminal } from '@svc/lifecycle';
import type { Clock } from '@svc/runtime';
import type { JobRecord } from '@svc/store';
import type { ApiContext } from '../context';
import { admission, readmission, type GateOptions } from './admission';
import { findOwnJob } from './find-own-job';
import { visibleResult } from './get-job-status';

interface WatchJobEvent {
  job_id: string;
  status: string;
  percent: number;
  message: string;
  result_ptr: string;
  error_code: string;
  error_message: string;
  /** µs since 1970. */
  at_us: number;
}

export interface WatchSettings {
  /** Maximum streams per tenant on this replica. GATEWAY_GRPC_MAX_STREAMS_PER_TENANT. */
  maxStreamsPerTenant: number;
  /** Poll interval of an unfinished job. Its end is detected immediately. */
  readEveryMs: number;
  /** Interval at which the credential of a stream is rechecked. */
  recheckEveryMs: number;
}

export const watchIntervals = { readEveryMs: 2_000, recheckEveryMs: 30_000 } as const;

/**
 * Streams the current state of a job, then each observed change, and ends after a terminal state or when its credential
 * is no longer valid. See docs/reference/http.md#grpc.
 *
 * @throws (from the stream) rate_limited when the tenant has reached its maximum number of streams
 */
export function watchJob(ctx: ApiContext, options: GateOptions, settings: WatchSettings, clock: Pick<Clock, 'nowMs'>) {
  const admit = admission(endpoint, options);
  const readmit = readmission(endpoint, options);
  const openStream = streamLimit(settings.maxStreamsPerTenant);
  const { readEveryMs, recheckEveryMs } = settings;

  return stream<{ job_id: string }, WatchJobEvent>(async function* ({ job_id }, call) {
    const { caller, credential } = await admit(call, { params: { id: job_id } });
    const close = openStream(caller.tenant);
    let unfollow = () => undefined as void;
    try {
      let last = '';
      let recheckAtMs = clock.nowMs() + recheckEveryMs;
      let wake = () => undefined as void;
      unfollow = followCredential(options, { credential }, () => {
        recheckAtMs = 0;
        wake();
      });
      while (!call.signal.aborted) {
        const nowMs = clock.nowMs();
        if (nowMs >= recheckAtMs) {
          // Before the check, so that a change during it causes another.
          recheckAtMs = nowMs + recheckEveryMs;
          await readmit(call, caller);
        }
        // Started before the job is read, so that an end in between is not missed.
        const { ended, cancel } = ctx.reads.endings.wait(job_id, Math.min(readEveryMs, recheckAtMs - nowMs));
        wake = cancel;
        call.signal.addEventListener('abort', cancel, { once: true });
        try {
          const job = await findOwnJob(ctx, caller, job_id);
          const event = toEvent(job);
          const seen = JSON.stringify({ ...event, at_us: 0 });
          if (seen !== last) yield event;
          last = seen;
          if (isTerminal(job.state)) return;
          await ended;
        } finally {
          cancel();
          call.signal.removeEventListener('abort', cancel);
        }
      }
    } finally {
      unfollow();
      close();
    }
  });
}

/** Counts the open streams of each tenant. @returns a function that opens a stream and returns its close function */
function streamLimit(maxStreams: number): (tenant: string) => () => void {
  const open = new Map<string, number>();
  return (tenant) => {
    const before = open.get(tenant) ?? 0;
    if (before >= maxStreams) throw new AppError('rate_limited', {}, { 'Retry-After': '1' });
    open.set(tenant, before + 1);
    return () => {
      const left = (open.get(tenant) ?? 1) - 1;
      if (left > 0) open.set(tenant, left);
      else open.delete(tenant);
    };
  };
}

const toEvent = (job: JobRecord): WatchJobEvent => ({
  job_id: job.id,
  status: job.state,
  percent: Math.round(job.progress_percent ?? 0),
  message: job.progress_message ?? '',
  result_ptr: visibleResult(job),
  error_code: job.error_code ?? '',
  error_message: job.error_message ?? '',
  at_us: job.updated_at,
});
