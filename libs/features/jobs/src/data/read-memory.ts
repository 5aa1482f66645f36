import { AppError, type Caller, type MemoryView } from '@svc/contract';
import { markSensitive, type MemoryValue, type Store } from '@svc/store';
import { isWithheld, findResultOwner } from '../withheld';
import { findMemoryOwner } from './memory-owner';

const kinds = { ctx: 'context', res: 'result', mem: 'memory' } as const;

/**
 * Reads the data behind a context, result or memory pointer, after checking its owner.
 * See docs/reference/jobs.md#memory.
 *
 * @throws missing_ptr_or_key, invalid_pointer, not_found, tenant_access_denied, output_quarantined
 */
export async function readMemory(
  { store }: { store: Store },
  caller: Caller,
  ptr: string | undefined,
): Promise<MemoryView> {
  const given = ptr?.trim().replace(/^(["'])(.*)\1$/, '$2');
  if (!given) throw new AppError('missing_ptr_or_key');
  const key = given.replace(/^redis:\/\//, '');
  const prefix = key.slice(0, 3);
  if (!/^(ctx|res|mem):.+$/s.test(key) || !(prefix in kinds)) throw new AppError('invalid_pointer');
  const kind = kinds[prefix as keyof typeof kinds];
  await requireOwner(store, caller, kind, key);

  if (kind !== 'memory') {
    const found = await store.data.read(key, maxBytes);
    if (!found) throw new AppError('not_found');
    return view(key, kind, found.body, found.sizeBytes);
  }
  const value = await store.data.memory(key);
  if (!value) throw new AppError('not_found');
  const document = Buffer.from(JSON.stringify(memoryDocument(value)));
  return view(key, kind, document, document.length);
}

const MAX_KEY_CHARS = 512;
const maxBytes = 8 * 1_048_576;

async function requireOwner(store: Store, caller: Caller, kind: string, key: string): Promise<void> {
  const name = key.slice(4).replace(kind === 'memory' ? /:(events|chunks|summary)$/ : /^$/, '');
  const job = await (kind === 'result' ? findResultOwner(store, name) : store.jobs.load(name));
  const tenant = job?.tenant ?? (kind === 'memory' ? await findMemoryOwner(store, name) : undefined);
  const facts = { resource_id: key.slice(0, MAX_KEY_CHARS), kind, ...(job && { source_job: job.id }) };
  markSensitive(tenant ?? caller.tenant, facts);
  if (tenant === undefined) {
    if (caller.scope === '*') return;
    throw new AppError('not_found');
  }
  if (caller.scope !== '*' && tenant !== caller.scope) throw new AppError('tenant_access_denied');
  if (kind === 'result' && job && isWithheld(job)) throw new AppError('output_quarantined');
}

function view(key: string, kind: string, body: Buffer, sizeBytes: number): MemoryView {
  const text = utf8(body);
  const json = text === undefined ? undefined : parsed(text);
  return {
    pointer: `redis://${key}`,
    key,
    kind,
    size_bytes: sizeBytes,
    base64: body.toString('base64'),
    ...(text !== undefined && { text }),
    ...(json !== undefined && { json }),
  };
}

function utf8(body: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const part = (bytes: Buffer): unknown => {
  const text = utf8(bytes);
  return text === undefined ? bytes.toString('base64') : (parsed(text) ?? text);
};

function memoryDocument(value: MemoryValue): Record<string, unknown> {
  switch (value.type) {
    case 'string': {
      const text = utf8(value.value);
      return {
        redis_type: 'string',
        ...(text === undefined ? { base64: value.value.toString('base64') } : { value: text }),
      };
    }
    case 'list':
    case 'set':
      return { redis_type: value.type, length: value.items.length, items: value.items.map(part) };
    case 'hash': {
      const items = Object.fromEntries(Object.entries(value.items).map(([field, bytes]) => [field, part(bytes)]));
      return { redis_type: 'hash', length: Object.keys(items).length, items };
    }
  }
}
