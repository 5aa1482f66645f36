/** Submitting, reading, cancelling and resubmitting jobs; dead letters, artifacts and memory. */
export { type CancelledDeps, publishCancelled, toJobLimits } from './job-limits';
export { type CancelDeps, cancelJob, cancelOpenJob } from './cancel-job';
export { type ArtifactDeps, getArtifact, putArtifact } from './data/artifacts';
export {
  type DataUrlDeps,
  type DataUrlSettings,
  dataUrlsFor,
  dispatchEndsMs,
  openDataUrl,
  putJobArtifact,
  putJobResult,
  readJobInput,
} from './data/data-urls';
export { memoryClaim, findMemoryOwner, requireMemory } from './data/memory-owner';
export { readMemory } from './data/read-memory';
export { listDeadLetters, pageDeadLetters, removeDeadLetter, retryDeadLetter } from './dead-letters/dead-letters';
export { releaseQuarantine } from './dead-letters/resolve-quarantine';
export { failureWrites, type JobFailure, type Intent } from './job-failure';
export type { SubmitOutcome } from './idempotency';
export { actionability, getApproval, parseJsonOrNull, toJobItem } from './job-views';
export { checkMemoryAccess } from './memory-access';
export { deadlineFailure, failJob, failAndStop, transitionAndPublish, type MoveDeps } from './move-job';
export { allowedPromptChars, clientLabels, publicLabels } from './normalize-request';
export type { NewJobPlacement, PermittedJob, ProposedPlacement } from './new-job-placement';
export { newJobRecord } from './new-job-record';
export { publishIntent } from './publish-intent';
export { awaitJob, findJob, getJob, getTrace, jobDecisions, listJobs, readContext, type WaitDeps } from './read-jobs';
export { RecentJobs } from './recent-jobs';
export { remediateJob } from './remediate-job';
export { inheritedLabels, type ResubmitDeps } from './resubmit';
export { deadline, type SubmitDeps, submitJob } from './submit-job';
export { isForeignResult, isWithheld, findResultOwner } from './withheld';
export { writeWithheldLetter } from './withheld-letter';
export { workerJobs } from './worker-jobs';
export { dataRoutes, type DataContext } from './data/routes';
export { deadLetterRoutes, type DeadLetterContext } from './dead-letters/routes';
export { jobRoutes, type JobContext } from './routes';
