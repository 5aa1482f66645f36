/** The job of a queue entry; undefined if its payload names none. */
export const getJobId = (data: unknown): string | undefined => getId(data, 'job_id');

/** The run of a queue entry; undefined if its payload names none. */
export const getRunId = (data: unknown): string | undefined => getId(data, 'run_id');

function getId(data: unknown, name: 'job_id' | 'run_id'): string | undefined {
  const id = typeof data === 'object' && data !== null ? (data as Record<string, unknown>)[name] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** Path of the page of a job. */
export const jobPath = (id: string): string => `/admin/jobs/${encodeURIComponent(id)}`;
