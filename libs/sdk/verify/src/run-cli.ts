import type { SignedCheckpoint } from '@svc/audit-chain';
import { parseJson, readCheckpoint, readPublicKey } from '@svc/evidence-format';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { open, readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { formatReport } from './format-report';
import { MAX_ARCHIVE_BYTES } from './read-archive';
import { verifyArchive } from './verify-archive';

/** Where the command writes. */
export interface Terminal {
  out(text: string): void;
  error(text: string): void;
}

const usage = `Usage: svc-verify [options] BUNDLE.tgz

Verifies an evidence bundle offline. Exit code 0: verified; 1: not verified; 2: the command cannot be run.

  --key FILE      public key (PEM, or SPKI in base64) that you trust; repeat it for earlier keys. Without it the key that the
                  bundle names is used, which proves only that the bundle is consistent in itself
  --anchors FILE  checkpoints that were kept outside of the installation, one JSON object per line
  --json          print the report as JSON
  --help          print this text
`;

/** The command is wrong, or a file cannot be read. */
class UsageError extends Error {}

/** @returns the exit code */
export async function runCli(args: readonly string[], { out, error }: Terminal): Promise<0 | 1 | 2> {
  try {
    const { values, positionals } = readArgs(args);
    if (values.help) {
      out(usage);
      return 0;
    }
    const [file, ...rest] = positionals;
    if (file === undefined || rest.length > 0) throw new UsageError('name one bundle');
    const keys = await Promise.all((values.key ?? []).map(readKey));
    const anchors = values.anchors === undefined ? undefined : await readAnchors(values.anchors);
    const archive = await readBundle(file);
    const report = await verifyArchive(archive, { keys, ...(anchors && { anchors }) });
    if (values.json) {
      const { isVerified, faults, warnings, checks, manifest, isKeyGiven } = report;
      const view = { verified: isVerified, key_given: isKeyGiven, faults, warnings, checks, manifest };
      out(`${JSON.stringify(view, undefined, 2)}\n`);
    } else out(formatReport(report, basename(file)));
    return report.isVerified ? 0 : 1;
  } catch (failure) {
    if (!(failure instanceof UsageError)) throw failure;
    error(`svc-verify: ${failure.message}\n\n${usage}`);
    return 2;
  }
}

function readArgs(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        key: { type: 'string', multiple: true },
        anchors: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(describeError(error));
  }
}

const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function readKey(file: string): Promise<KeyObject> {
  const text = await readText(file);
  const key = text.includes('-----BEGIN') ? readPem(text) : readPublicKey(Buffer.from(text.trim(), 'base64'));
  if (key?.asymmetricKeyType !== 'ed25519') throw new UsageError(`${file} is not a public Ed25519 key`);
  return key;
}

function readPem(text: string): KeyObject | undefined {
  // A private key would be accepted, too, and must not be where bundles are verified.
  if (text.includes('PRIVATE KEY')) return undefined;
  try {
    return createPublicKey(text);
  } catch {
    return undefined;
  }
}

/** Lines that a crash cut short are skipped, as the service does. */
async function readAnchors(file: string): Promise<SignedCheckpoint[]> {
  const lines = (await readText(file)).split('\n');
  return lines.flatMap((line) => readCheckpoint(parseJson(line)) ?? []);
}

const MAX_TEXT_BYTES = 256 * 1_048_576;

async function readText(file: string): Promise<string> {
  const { size } = await stat(file).catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${describeError(error)}`);
  });
  if (size > MAX_TEXT_BYTES) throw new UsageError(`${file} is too large`);
  return readFile(file, 'utf8');
}

/** Reads no more than one byte over the limit, whatever the size of the file. */
async function readBundle(file: string): Promise<Buffer> {
  const handle = await open(file).catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${describeError(error)}`);
  });
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.min(size, MAX_ARCHIVE_BYTES + 1));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    return bytes.subarray(0, bytesRead);
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${describeError(error)}`);
  } finally {
    await handle.close();
  }
}
