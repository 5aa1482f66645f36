import type { Base, JobBus } from '@svc/platform';
import { deadLetter } from './job-failure';
import { publishIntent } from './publish-intent';

export interface WithheldLetterDeps extends Base {
  bus: JobBus;
  senderId: string;
  settings: { deadLetterTtlSec: number };
}

/**
 * Writes the dead letter of a failed job whose run was to retry it and does not. Safe to repeat: the record holds
 * whether the letter is still missing, so one that was retried or deleted in between does not come back.
 */
export async function writeWithheldLetter(deps: WithheldLetterDeps, jobId: string): Promise<void> {
  const { store, clock, settings } = deps;
  const job = await store.jobs.load(jobId);
  if (!job || job.letter !== 'withheld') return;
  const { error_status = '', error_code: code = '', error_message: message = '', last_state = job.state } = job;
  const nowUs = clock.nowUs();
  // A crash after the publish repeats it under the same job id.
  await publishIntent(deps, { ...job, intent: JSON.stringify({ dlq: true }) });
  await store.jobs.note(
    jobId,
    {
      states: [job.state],
      guard: { letter: 'withheld' },
      deadLetter: deadLetter({ ...job, last_state }, error_status, { code, message }, nowUs, settings.deadLetterTtlSec),
    },
    { letter: 'written' },
  );
}
