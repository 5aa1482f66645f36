/** Startup failed for a reason that an operator can fix; printed without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';

  /**
   * @param what the failure, for example "cannot read the certificate"
   * @param where the file, address or variable at fault
   * @param fix instruction to the operator
   */
  constructor(
    what: string,
    readonly where: string,
    readonly fix: string,
    options?: { cause: unknown },
  ) {
    super(what, options);
  }
}

/** A dependency was unavailable for the whole start wait. A restart may succeed without any change. */
export class DependencyUnavailable extends StartError {}

const systemErrors: Record<string, { what: string; fix: string }> = {
  EADDRINUSE: { what: 'the address is in use', fix: 'Stop the process that uses it, or listen on another address.' },
  EADDRNOTAVAIL: {
    what: 'the address does not belong to this host',
    fix: 'Listen on an address of this host, or on :port.',
  },
  EACCES: { what: 'permission denied', fix: 'Run as a user with access, or choose a port above 1023.' },
  ECONNREFUSED: { what: 'connection refused', fix: 'Start the server, or correct the address.' },
  ENOTFOUND: { what: 'unknown host name', fix: 'Correct the host name.' },
  ENOENT: { what: 'the file does not exist', fix: 'Create it, or correct the path.' },
};

/** Converts a known system error into a `StartError`; undefined for other errors. */
export function asStartError(error: unknown): StartError | undefined {
  if (error instanceof StartError) return error;
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  const known = systemErrors[error.code];
  return known && new StartError(known.what, getLocation(error), known.fix, { cause: error });
}

function getLocation(error: Error): string {
  const { address, port, path, hostname } = error as Error & Record<string, unknown>; // fields of Node's system errors
  if (typeof path === 'string') return path;
  if (typeof hostname === 'string') return hostname;
  return typeof port === 'number' ? `${typeof address === 'string' ? address : ''}:${port}` : error.message;
}
