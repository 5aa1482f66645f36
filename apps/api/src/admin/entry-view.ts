/** The job that a queue entry is about; undefined when its payload names none. */
export function jobIdOf(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('job_id' in data)) return undefined;
  return typeof data.job_id === 'string' && data.job_id !== '' ? data.job_id : undefined;
}

/** Where the page of a job is. */
export const jobPath = (id: string): string => `/admin/jobs/${encodeURIComponent(id)}`;
