import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import type { Clock } from './clock';
import { StartError } from './service/start-error';

export type TlsVersion = '1.2' | '1.3';

/** Files of a listener, or of a client with a certificate. */
export interface TlsFiles {
  cert: string;
  key: string;
  /** On a server: clients must present a certificate issued by it. */
  ca?: string;
}

/** Material of a listener, for `https.createServer` and gRPC credentials. */
export interface TlsMaterial {
  cert: Buffer;
  key: Buffer;
  ca?: Buffer;
  /** When the certificate expires, milliseconds since 1970. */
  notAfterMs: number;
}

const readText = { cert: 'certificate', key: 'key', ca: 'authority' } as const;

/**
 * Loads certificate, key and authority, and checks that the key belongs to the certificate.
 *
 * @throws StartError naming the file
 */
export async function loadTls(files: TlsFiles): Promise<TlsMaterial> {
  const [cert, key, ca] = await Promise.all([
    read('cert', files.cert),
    read('key', files.key),
    files.ca ? read('ca', files.ca) : undefined,
  ]);
  const parsed = parse(() => new X509Certificate(cert), readText.cert, files.cert);
  const privateKey = parse(() => createPrivateKey(key), readText.key, files.key);
  if (ca && files.ca) parse(() => new X509Certificate(ca), readText.ca, files.ca);
  if (!parsed.checkPrivateKey(privateKey)) {
    throw new StartError('the key does not belong to the certificate', files.key, `Set the key of ${files.cert}.`);
  }
  return { cert, key, ...(ca && { ca }), notAfterMs: Date.parse(parsed.validTo) };
}

/** Server options of loaded material: minimum version, client certificates when there is a CA. */
export const tlsServerOptions = ({ cert, key, ca }: TlsMaterial, minVersion: TlsVersion) => ({
  cert,
  key,
  minVersion: `TLSv${minVersion}` as const,
  ...(ca && { ca, requestCert: true, rejectUnauthorized: true }),
});

export interface TlsClientSettings {
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
  /** Name expected in the server certificate, when it differs from the address. */
  serverName?: string | undefined;
  /** Development only: skips verification of the server certificate. */
  insecure?: boolean;
  minVersion: TlsVersion;
}

/**
 * Options of a TLS client of Redis, NATS or the kernel.
 *
 * @throws StartError naming a file that cannot be used
 */
export async function tlsClientOptions(settings: TlsClientSettings): Promise<ConnectionOptions> {
  const { ca, cert, key, serverName, insecure = false, minVersion } = settings;
  const own = cert && key ? await loadTls({ cert, key }) : undefined;
  const authority = ca ? await read('ca', ca) : undefined;
  if (authority && ca) parse(() => new X509Certificate(authority), readText.ca, ca);
  return {
    minVersion: `TLSv${minVersion}`,
    rejectUnauthorized: !insecure,
    ...(authority && { ca: authority }),
    ...(own && { cert: own.cert, key: own.key }),
    ...(serverName && { servername: serverName }),
  };
}

export interface TlsWatchOptions {
  files: TlsFiles;
  clock: Pick<Clock, 'sleep'>;
  /** Called with a new pair that loads and matches. */
  onChange: (material: TlsMaterial) => void;
  /** Called when changed files cannot be used; the pair in use stays. */
  onError: (error: unknown) => void;
  everyMs?: number;
}

/** Checks every 30 s by modification time whether the files changed, until the signal aborts. */
export async function watchTls(options: TlsWatchOptions, signal: AbortSignal): Promise<void> {
  const { files, clock, onChange, onError, everyMs = 30_000 } = options;
  let seen = await getModificationTimes(files);
  while (!signal.aborted) {
    await clock.sleep(everyMs, signal);
    const now = await getModificationTimes(files);
    if (signal.aborted || now === seen) continue;
    seen = now;
    await loadTls(files).then(onChange, onError);
  }
}

/** A file that is briefly missing while it is replaced counts as changed. */
async function getModificationTimes({ cert, key, ca }: TlsFiles): Promise<string> {
  const paths = [cert, key, ...(ca ? [ca] : [])];
  const times = await Promise.all(paths.map((path) => stat(path).then(({ mtimeMs }) => String(mtimeMs), () => 'gone'))); // prettier-ignore
  return times.join();
}

function read(kind: keyof typeof readText, path: string): Promise<Buffer> {
  return readFile(path).catch((cause: unknown) => {
    throw new StartError(`cannot read the ${readText[kind]}`, path, 'Create the file, or correct its path.', { cause });
  });
}

function parse<T>(make: () => T, what: string, path: string): T {
  try {
    return make();
  } catch (cause) {
    throw new StartError(`the ${what} cannot be used`, path, 'It must be PEM text, not encrypted.', { cause });
  }
}
