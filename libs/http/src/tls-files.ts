import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { SecureContextOptions, SecureVersion } from 'node:tls';

export interface TlsSettings {
  certPath: string;
  keyPath: string;
  /** Certificate authority of clients; given, clients must present a certificate of it. */
  clientCaPath?: string;
  minVersion: SecureVersion;
}

export interface TlsFiles {
  context: SecureContextOptions;
  /** The newly read pair if a file changed since the last look and the pair holds together; else undefined. */
  changed(): SecureContextOptions | undefined;
}

/**
 * The server's certificate and key, which belong together.
 *
 * @throws Error when a file cannot be read or key and certificate do not match
 */
export function openTlsFiles(settings: TlsSettings, onProblem: (problem: Error) => void): TlsFiles {
  const paths = [settings.certPath, settings.keyPath, ...(settings.clientCaPath ? [settings.clientCaPath] : [])];
  const mark = () =>
    paths.map((path) => statSync(path, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 'missing').join();
  let seen = mark();
  return {
    context: readPair(settings),
    changed() {
      const now = mark();
      if (now === seen) return undefined;
      try {
        const context = readPair(settings);
        seen = now;
        return context;
      } catch (cause) {
        // Cert and key are replaced one after the other: a pair that does not match yet is looked at again next time.
        onProblem(new Error('the changed TLS certificate or key cannot be used; the old pair stays', { cause }));
        return undefined;
      }
    },
  };
}

function readPair({ certPath, keyPath, clientCaPath, minVersion }: TlsSettings): SecureContextOptions {
  const cert = readFileSync(certPath);
  const key = readFileSync(keyPath);
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error(`${keyPath} is not the key of ${certPath}`);
  }
  return { cert, key, minVersion, ...(clientCaPath && { ca: readFileSync(clientCaPath) }) };
}
