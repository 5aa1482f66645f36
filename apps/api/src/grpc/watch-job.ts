import { getJob as endpoint } from '@svc/contract';
import { stream } from '@svc/grpc';
import { isTerminal } from '@svc/lifecycle';
import type { JobRecord } from '@svc/store';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiContext } from '../context';
import { admission, type GateOptions } from './admission';
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

const everyMs = 250;

/** The job's state now, then each change that is seen, and the end after a terminal state. Wire contract 18.1. */
export function watchJob(ctx: ApiContext, options: GateOptions) {
  const admit = admission(endpoint, options);
  return stream<{ job_id: string }, WatchJobEvent>(async function* ({ job_id }, call) {
    const { caller } = await admit(call, { params: { id: job_id } });
    let last = '';
    while (!call.signal.aborted) {
      const job = await findOwnJob(ctx, caller, job_id);
      const event = eventOf(job);
      const seen = JSON.stringify({ ...event, at_us: 0 });
      if (seen !== last) yield event;
      last = seen;
      if (isTerminal(job.state)) return;
      await delay(everyMs, undefined, { signal: call.signal }).catch(() => undefined);
    }
  });
}

const eventOf = (job: JobRecord): WatchJobEvent => ({
  job_id: job.id,
  status: job.state,
  percent: Math.round(job.progress_percent ?? 0),
  message: job.progress_message ?? '',
  result_ptr: visibleResult(job),
  error_code: job.error_code ?? '',
  error_message: job.error_message ?? '',
  at_us: job.updated_at,
});
