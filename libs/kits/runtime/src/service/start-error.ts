/** A service cannot start for a reason an operator can mend; printed without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';

  /**
   * @param what what failed, for example "cannot read the certificate"
   * @param where the file, address or variable it happened at
   * @param mend what the operator should do
   */
  constructor(
    what: string,
    readonly where: string,
    readonly mend: string,
    options?: { cause: unknown },
  ) {
    super(what, options);
  }
}

/** A dependency did not answer in the time that a start waits for it. A restart may succeed without any change. */
export class DependencyUnavailable extends StartError {}

const systemErrors: Record<string, { what: string; mend: string }> = {
  EADDRINUSE: { what: 'the address is in use', mend: 'Stop the process that holds it, or listen somewhere else.' },
  EADDRNOTAVAIL: {
    what: 'the address is not one of this machine',
    mend: 'Listen on an address this machine has, or on :port.',
  },
  EACCES: { what: 'permission denied', mend: 'Run as a user that may use it, or choose a port above 1023.' },
  ECONNREFUSED: { what: 'nothing answers at the address', mend: 'Start the other side, or correct the address.' },
  ENOTFOUND: { what: 'the host name is not known', mend: 'Correct the host name.' },
  ENOENT: { what: 'the file does not exist', mend: 'Create it, or correct the path.' },
};

/** Turns what a start threw into a `StartError` when the reason is a known one of the system; undefined otherwise. */
export function asStartError(error: unknown): StartError | undefined {
  if (error instanceof StartError) return error;
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  const known = systemErrors[error.code];
  return known && new StartError(known.what, placeOf(error), known.mend, { cause: error });
}

function placeOf(error: Error): string {
  const { address, port, path, hostname } = error as Error & Record<string, unknown>; // fields of Node's system errors
  if (typeof path === 'string') return path;
  if (typeof hostname === 'string') return hostname;
  return typeof port === 'number' ? `${typeof address === 'string' ? address : ''}:${port}` : error.message;
}
