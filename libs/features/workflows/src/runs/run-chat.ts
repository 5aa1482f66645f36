import { AppError, chatRoles, type Caller, type ChatBody, type ChatMessage, type ChatView } from '@svc/contract';
import type { RunRecord, StoredMessage } from '@svc/store';
import { ownerOfMemory, requireMemory } from '@svc/jobs';
import { foundOf } from '../definitions/read-workflows';
import { givenTo } from './run-codec';
import type { StartRunDeps } from './run-deps';
import { memoryOf } from './step-jobs';

type ReadDeps = Pick<StartRunDeps, 'store'>;

/** What a line of a conversation may hold; whoever serves a memory writes such lines too, so nothing in it is certain. */
type Line = Partial<Record<keyof ChatMessage | 'tenant', unknown>>;

/**
 * Newest first. A memory that the installation shares shows each tenant its own lines, and its owner those without a tenant.
 * See docs/reference/workflows.md#chat.
 *
 * @throws run_not_found, tenant_access_denied
 */
export async function readChat(
  { store }: ReadDeps,
  caller: Caller,
  runId: string,
  page: { limit: number; cursor?: number },
): Promise<ChatView> {
  const run = foundOf(await store.runs.head(caller.scope, runId), 'run_not_found');
  const memoryId = await memoryOfRun(store, run);
  const owner = (await ownerOfMemory(store, memoryId)) ?? run.tenant;
  const { items, next } = await store.chat.page(memoryId, page.limit, page.cursor);
  const messages = items.flatMap((item) => messageOf(item, run, owner) ?? []);
  return { items: messages, ...(next !== null && { next_cursor: next }) };
}

/**
 * Says something. Only admins speak as agent or system. What a user says is also the signal `chat` of the run, for a step
 * that waits for it; nothing of it is kept for steps that do not wait yet.
 *
 * @throws content_required, run_not_found, tenant_access_denied, overloaded, memory_policy_violation,
 *   memory_policy_unreadable
 */
export async function sayInChat(
  deps: StartRunDeps,
  caller: Caller,
  runId: string,
  { content, role, ...about }: ChatBody,
): Promise<ChatMessage> {
  const { store, clock, random } = deps;
  const run = foundOf(await store.runs.head(caller.scope, runId), 'run_not_found');
  if (content === '') throw new AppError('content_required');
  const asked = role === 'assistant' ? 'agent' : role;
  const message: ChatMessage = {
    id: random.uuid(),
    run_id: runId,
    role: caller.role === 'admin' ? asked : 'user',
    content,
    created_at: new Date(clock.nowMs()).toISOString(),
    ...about,
  };
  const line = { ...message, role: message.role === 'agent' ? 'assistant' : message.role, tenant: run.tenant };
  const memoryId = await memoryOfRun(store, run);
  await requireMemory(store, deps.config, run.tenant, memoryId);
  const bytes = Buffer.byteLength(JSON.stringify(line));
  await deps.admission.data(run.tenant, bytes, () => store.chat.append(memoryId, [line]));
  // If we die here, all can read the message and the run was not told: whoever got no answer says it again.
  if (message.role === 'user') await store.runs.post(caller.scope, runId, signalOf(message));
  return message;
}

/** A run that has ended takes no signals, and one that waits for none forgets this one: what was said stays in the chat. */
const signalOf = ({ id, role, content }: ChatMessage) => ({
  kind: 'signal',
  name: 'chat',
  id,
  payload: { message_id: id, role, content },
  kept: false,
});

async function memoryOfRun({ runs }: Pick<ReadDeps['store'], 'runs'>, { id }: RunRecord): Promise<string> {
  return memoryOf({ id, input: givenTo(await runs.steps(id, [givenTo.path])) });
}

/** Undefined for another tenant's line. Workers write lines without a tenant: these belong to the memory's owner. */
function messageOf({ position, text }: StoredMessage, run: RunRecord, owner: string): ChatMessage | undefined {
  const line = lineOf(text);
  if ((line.tenant ?? owner) !== run.tenant) return undefined;
  const { metadata } = line;
  return {
    id: textOf(line.id) || String(position),
    run_id: textOf(line.run_id) || run.id,
    role: roleOf(line.role),
    content: typeof line.content === 'string' ? line.content : JSON.stringify(line.content ?? ''),
    created_at: timeOf(line.created_at) ?? new Date(run.created_at / 1_000).toISOString(),
    ...named('step_id', line),
    ...named('job_id', line),
    ...named('agent_id', line),
    ...named('agent_name', line),
    ...(isRecord(metadata) && { metadata }),
  };
}

/** What is no JSON object reads as the system's words. */
function lineOf(text: string): Line {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isRecord(parsed)) return parsed;
  } catch {
    // Workers write these lists too, and plain text is as good.
  }
  return { role: 'system', content: text };
}

function roleOf(stored: unknown): ChatMessage['role'] {
  if (stored === 'assistant') return 'agent';
  return chatRoles.find((role) => role === stored) ?? 'system';
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function timeOf(value: unknown): string | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

function named<Key extends 'step_id' | 'job_id' | 'agent_id' | 'agent_name'>(key: Key, line: Line) {
  const value = line[key];
  return (typeof value === 'string' ? { [key]: value } : {}) as { [K in Key]?: string };
}
