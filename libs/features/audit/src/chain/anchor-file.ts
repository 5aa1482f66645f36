import type { SignedCheckpoint } from '@svc/audit-chain';
import { isRecord } from '@svc/json';
import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

/** Appends a checkpoint, and waits until it is on the disk. */
export async function writeAnchorFile(file: string, checkpoint: SignedCheckpoint): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const handle = await open(file, 'a', 0o600);
  try {
    await handle.appendFile(`${JSON.stringify(checkpoint)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const MAX_LINE_CHARS = 10_000;

/** The checkpoints of a tenant in the file, in its order; none if there is no file yet. Other lines are skipped. */
export async function readAnchorFile(file: string, tenant: string): Promise<SignedCheckpoint[]> {
  const found: SignedCheckpoint[] = [];
  const input = createReadStream(file, 'utf8');
  try {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      const checkpoint = readLine(line);
      if (checkpoint?.tenant_id === tenant) found.push(checkpoint);
    }
  } catch (error) {
    if (isRecord(error) && error['code'] === 'ENOENT') return [];
    throw error;
  }
  return found;
}

function readLine(line: string): SignedCheckpoint | undefined {
  // A line that a crash cut short is no JSON.
  if (line.length > MAX_LINE_CHARS || !line.endsWith('}')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    const isCheckpoint =
      isRecord(value) &&
      ['installation', 'tenant_id', 'event_hash', 'merkle_root', 'at', 'key_id', 'signature'].every(
        (field) => typeof value[field] === 'string',
      ) &&
      Number.isSafeInteger(value['seq']);
    return isCheckpoint ? (value as unknown as SignedCheckpoint) : undefined;
  } catch {
    return undefined; // reported by the verification as a missing anchor
  }
}
