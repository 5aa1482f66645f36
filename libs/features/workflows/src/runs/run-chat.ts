import { AppError, chatRoles, type Caller, type ChatBody, type ChatMessage, type ChatView } from '@svc/contract';
import type { RunRecord } from '@svc/store';
import { findMemoryOwner, requireMemory } from '@svc/jobs';
import { isRecord } from '@svc/json';
import { requireFound } from '../definitions/read-workflows';
import type { ChatRepository, StoredMessage } from './chat.repository';
import { readInput } from './run-codec';
import type { StartRunDeps } from './run-deps';
import { getRunMemoryId } from './step-jobs';

/** Dependencies of conversations with runs. */
export interface ChatDeps extends StartRunDeps {
  chat: ChatRepository;
}
type ReadDeps = Pick<ChatDeps, 'store' | 'chat'>;

/** A stored chat line. Memory servers write such lines too, so no field is guaranteed. */
type Line = Partial<Record<keyof ChatMessage | 'tenant', unknown>>;

/**
 * Newest first. In a memory shared across the installation, each tenant sees its own lines; its owner also sees lines
 * without a tenant.
 * See docs/reference/workflows.md#chat.
 *
 * @throws run_not_found, tenant_access_denied
 */
export async function readChat(
  { store, chat }: ReadDeps,
  caller: Caller,
  runId: string,
  page: { limit: number; cursor?: number },
): Promise<ChatView> {
  const run = requireFound(await store.runs.head(caller.scope, runId), 'run_not_found');
  const memoryId = await getMemoryId(store, run);
  const owner = (await findMemoryOwner(store, memoryId)) ?? run.tenant;
  const { items, next } = await chat.page(memoryId, page.limit, page.cursor);
  const messages = items.flatMap((item) => toMessage(item, run, owner) ?? []);
  return { items: messages, ...(next !== null && { next_cursor: next }) };
}

/**
 * Appends a message. Only admins may write as agent or system. A user's message is also sent to the run as the signal
 * `chat`, which is dropped unless a step is waiting for it.
 *
 * @throws content_required, run_not_found, tenant_access_denied, overloaded, memory_policy_violation,
 *   memory_policy_unreadable
 */
export async function postChatMessage(
  deps: ChatDeps,
  caller: Caller,
  runId: string,
  { content, role, ...about }: ChatBody,
): Promise<ChatMessage> {
  const { store, clock, random } = deps;
  const run = requireFound(await store.runs.head(caller.scope, runId), 'run_not_found');
  if (content === '') throw new AppError('content_required');
  const requestedRole = role === 'assistant' ? 'agent' : role;
  const message: ChatMessage = {
    id: random.uuid(),
    run_id: runId,
    role: caller.role === 'admin' ? requestedRole : 'user',
    content,
    created_at: new Date(clock.nowMs()).toISOString(),
    ...about,
  };
  const line = { ...message, role: message.role === 'agent' ? 'assistant' : message.role, tenant: run.tenant };
  const memoryId = await getMemoryId(store, run);
  await requireMemory(store, deps.config, run.tenant, memoryId);
  const bytes = Buffer.byteLength(JSON.stringify(line));
  const change = { kind: 'chat', id: runId, tenant: run.tenant, at: String(clock.nowUs()), message } as const;
  await deps.admission.data(run.tenant, bytes, () => deps.chat.append(memoryId, [line], change));
  // A crash here leaves the message readable without the signal; the client got no response and retries.
  if (message.role === 'user') await store.runs.post(caller.scope, runId, toSignal(message));
  return message;
}

/** `kept: false`: a run that is not waiting drops the signal; the message stays in the chat. */
const toSignal = ({ id, role, content }: ChatMessage) => ({
  kind: 'signal',
  name: 'chat',
  id,
  payload: { message_id: id, role, content },
  kept: false,
});

async function getMemoryId({ runs }: Pick<ReadDeps['store'], 'runs'>, { id }: RunRecord): Promise<string> {
  return getRunMemoryId({ id, input: readInput(await runs.steps(id, [readInput.path])) });
}

/** Undefined for another tenant's line. Lines that workers write have no tenant: they belong to the memory's owner. */
function toMessage({ position, text }: StoredMessage, run: RunRecord, owner: string): ChatMessage | undefined {
  const line = parseLine(text);
  if ((line.tenant ?? owner) !== run.tenant) return undefined;
  const { metadata } = line;
  return {
    id: asText(line.id) || String(position),
    run_id: asText(line.run_id) || run.id,
    role: toRole(line.role),
    content: typeof line.content === 'string' ? line.content : JSON.stringify(line.content ?? ''),
    created_at: toTime(line.created_at) ?? new Date(run.created_at / 1_000).toISOString(),
    ...optionalText('step_id', line),
    ...optionalText('job_id', line),
    ...optionalText('agent_id', line),
    ...optionalText('agent_name', line),
    ...(isRecord(metadata) && { metadata }),
  };
}

/** Text that is not a JSON object becomes a system message. */
function parseLine(text: string): Line {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isRecord(parsed)) return parsed;
  } catch {
    // Workers may write plain text to these lists.
  }
  return { role: 'system', content: text };
}

function toRole(stored: unknown): ChatMessage['role'] {
  if (stored === 'assistant') return 'agent';
  return chatRoles.find((role) => role === stored) ?? 'system';
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

function toTime(value: unknown): string | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

function optionalText<Key extends 'step_id' | 'job_id' | 'agent_id' | 'agent_name'>(key: Key, line: Line) {
  const value = line[key];
  return (typeof value === 'string' ? { [key]: value } : {}) as { [K in Key]?: string };
}
