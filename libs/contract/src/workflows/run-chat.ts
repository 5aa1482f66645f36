import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, count, pageLimit, text, trimmed } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';
import { readWorkflows as read, runId, time } from './workflow-fields';

export const chatRoles = ['user', 'agent', 'system'] as const;

/** See docs/reference/workflows.md#chat. */
export interface ChatMessage {
  id: string;
  run_id: string;
  role: (typeof chatRoles)[number];
  content: string;
  created_at: string;
  step_id?: string;
  job_id?: string;
  agent_id?: string;
  agent_name?: string;
  metadata?: Record<string, unknown>;
}
const chatOptional = {
  step_id: text('Step of the message.').max(limits.idChars),
  job_id: text('Job of the message.').max(limits.idChars),
  agent_id: text('Agent that sent it.').max(limits.idChars),
  agent_name: text('Name of the agent.').max(limits.idChars),
  metadata: anyObject('Further details.'),
};
const chatMessage = shape<ChatMessage>({
  required: {
    id: text('Message id.'),
    run_id: runId,
    role: Joi.string<(typeof chatRoles)[number]>().valid(...chatRoles),
    content: text('Text of the message.'),
    created_at: time('Time of the message.'),
  },
  optional: chatOptional,
});

export interface ChatView {
  items: ChatMessage[];
  next_cursor?: number;
}
const chatPosition: Joi.Schema<number | undefined> = Joi.any()
  .custom((value: unknown) => (/^\d{1,15}$/.test(String(value)) ? Number(value) : undefined))
  .description('next_cursor of the last page, unchanged. An invalid cursor is ignored.');

export const readChat = endpoint({
  id: 'runs.chat',
  method: 'get',
  path: '/api/v1/workflow-runs/:id/chat',
  summary: 'Chat of a run, newest first',
  access: read,
  params: { id: runId },
  query: shape<{ limit: number; cursor?: number }>({
    required: { limit: pageLimit(100) },
    optional: { cursor: chatPosition },
  }),
  answer: {
    status: 200,
    body: shape<ChatView>({
      required: { items: Joi.array().items(chatMessage) },
      optional: { next_cursor: count('Position of the next older message; absent on the last page.') },
    }),
  },
  errors: ['run_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export interface ChatBody {
  content: string;
  role: 'user' | 'agent' | 'assistant' | 'system';
  step_id?: string;
  job_id?: string;
  agent_id?: string;
  agent_name?: string;
  metadata?: Record<string, unknown>;
}

export const postChatMessage = endpoint({
  id: 'runs.say',
  method: 'post',
  path: '/api/v1/workflow-runs/:id/chat',
  summary: 'Post a message to the chat of a run',
  description:
    'A message of a user is also delivered as the signal chat: a waiting step of type signal receives it as its output {message_id, role, content}. If no such step is waiting, only the message is stored.',
  access: { permission: 'workflows.write', roles: ['admin', 'operator'] },
  audit: { type: 'run.request', action: 'run.say', resource: ['run', 'id'] },
  params: { id: runId },
  body: shape<ChatBody>({
    required: {
      content: trimmed().allow('').max(65_536).default('').description('Required; surrounding spaces are removed.'),
      role: Joi.string<ChatBody['role']>()
        .valid('user', 'agent', 'assistant', 'system')
        .empty('')
        .default('user')
        .description(
          'Only admins may post as agent (assistant is a synonym) or system; all other callers post as user.',
        ),
    },
    optional: chatOptional,
  }),
  answer: { status: 200, body: chatMessage },
  errors: [
    'content_required',
    'run_not_found',
    'tenant_access_denied',
    'memory_policy_violation',
    'memory_policy_unreadable',
  ],
  otherTenant: 'tenant_access_denied',
});
