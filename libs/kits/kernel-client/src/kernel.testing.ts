import { openLogger, type Logger } from '@svc/runtime';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { LocalKernelSettings } from './local/open-local-kernel';

/** A folder with the files of a kernel. */
export function kernelFiles() {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-'));
  const path = (name: string) => join(folder, name);
  const write = (name: string, text: string | Buffer) => {
    writeFileSync(path(`${name}.new`), text);
    renameSync(path(`${name}.new`), path(name));
  };
  const settings = (over: Partial<LocalKernelSettings> = {}): LocalKernelSettings => ({
    policyPath: path('safety.yaml'),
    scannersPath: path('scanners.yaml'),
    policyMaxBytes: 100_000,
    reloadIntervalMs: 10,
    signature: { required: false },
    bundles: { disabled: false, scope: 'system', id: 'policy', key: 'bundles', strict: 'off', publicKeys: {} },
    velocityFailMode: 'closed',
    decisionCache: { ttlMs: 0, maxSize: 10 },
    ...over,
  });
  return {
    path,
    settings,
    policy: (text: string) => write('safety.yaml', text),
    scanners: (text: string) => write('scanners.yaml', text),
    write,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** An Ed25519 key and what signs with it. */
export function signer() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return {
    spki: spki.toString('base64'),
    raw: spki.subarray(-32).toString('hex'),
    sign: (text: string) => sign(null, Buffer.from(text), privateKey),
  };
}

/** A log that records its lines. */
export function listeningLog(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const to = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  return {
    log: openLogger({ component: 'test', level: 'debug', format: 'text', clock: { nowMs: () => 0 }, to }),
    lines,
  };
}
