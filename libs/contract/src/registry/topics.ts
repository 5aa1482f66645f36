import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, strings, text, trimmed } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';

export const topicStatuses = ['active', 'deprecated', 'disabled'] as const;
export type TopicStatus = (typeof topicStatuses)[number];

const MAX_WORDS = 100;
const wordChars = 128;
const nameChars = 256;

/** The registration of a topic. See docs/reference/routing.md#topics. */
export interface TopicFields {
  name: string;
  pool: string;
  requires: string[];
  risk_tags: string[];
  status: TopicStatus;
  input_schema_id?: string;
  output_schema_id?: string;
  pack_id?: string;
  capability?: string;
  risk_tag_deriver?: string;
}
export interface TopicBody extends TopicFields {
  tenant_id?: string;
}
export interface TopicView extends TopicFields {
  active_worker_count: number;
}
export interface TopicsView {
  items: TopicView[];
  registry_empty: boolean;
}

const optionalTexts = {
  input_schema_id: text('Schema that validates inputs.'),
  output_schema_id: text('Schema that validates results.'),
  pack_id: text('Pack that installed the topic.'),
  capability: text('Capability of its jobs.'),
  risk_tag_deriver: text('How policy derives risk tags from a job’s content.'),
};

const topicView = shape<TopicView>({
  required: {
    name: text('Topic or pattern.'),
    pool: text('First pool.'),
    requires: strings('Capabilities.'),
    risk_tags: strings('Risk tags.'),
    status: Joi.string<TopicStatus>().valid(...topicStatuses),
    active_worker_count: count('Live workers of its pool.'),
  },
  optional: optionalTexts,
});

export const listTopics = endpoint({
  id: 'topics.list',
  method: 'get',
  path: '/api/v1/topics',
  summary: 'Topics that jobs may be submitted to',
  access: { permission: 'topics.read', roles: ['admin', 'operator', 'viewer'] },
  params: {},
  answer: {
    status: 200,
    body: shape<TopicsView>({
      required: {
        items: Joi.array().items(topicView),
        registry_empty: Joi.boolean().description('No topic is registered, so every topic is accepted.'),
      },
    }),
  },
  errors: [],
});

const write = { permission: 'topics.write', roles: ['admin'] } as const;

/** Topics of registrations and of pools, which may hold `*`. */
export const topicNamePattern = /^job\.[a-zA-Z0-9_-]+(\.[a-zA-Z0-9_*-]+)*$/;
const topicName = Joi.string()
  .max(limits.topicChars)
  .pattern(topicNamePattern)
  .messages({ 'string.pattern.base': '{{#label}} must be job. and tokens of letters, digits, _, - joined by dots' });
const words = (description: string) =>
  Joi.array().items(trimmed().min(1).max(wordChars)).max(MAX_WORDS).default([]).description(description);
const name = (description: string) => trimmed().allow('').max(nameChars).description(description);
const fault = 'topic_schema_violation';

export const registerTopic = endpoint({
  id: 'topics.register',
  method: 'post',
  path: '/api/v1/topics',
  summary: 'Register a topic for the caller’s tenant, or replace its registration',
  access: write,
  audit: { type: 'topic_registered', action: 'topic.register', resource: ['topic', 'name'] },
  params: {},
  body: shape<TopicBody>({
    required: {
      name: topicName.description('Topic, or a pattern in which * matches one token.'),
      pool: name('Pool that serves it; required unless the topic is disabled.').default(''),
      requires: words('Capabilities that its jobs require.'),
      risk_tags: words('Risk tags of its jobs.'),
      status: Joi.string<TopicStatus>()
        .valid(...topicStatuses)
        .default('active')
        .description('A deprecated topic logs a warning; a disabled one rejects jobs.'),
    },
    optional: {
      tenant_id: text('The caller’s tenant.'),
      input_schema_id: name('Registered schema for inputs.'),
      output_schema_id: name('Registered schema for results.'),
      pack_id: name('Pack that installed the topic.'),
      capability: name('Capability of its jobs.'),
      risk_tag_deriver: name(
        'How policy derives risk tags from a job’s content: `amount-threshold` gives `low`, from 100 `review` and from 300 `blocked`, in addition to `risk_tags` and instead of the client’s tags; `amount-threshold:small=0,large=5000` sets other tags and amounts.',
      ),
    },
  }),
  violationCodes: Object.fromEntries(
    ['name', 'pool', 'requires', 'risk_tags', 'status', ...Object.keys(optionalTexts)].map((field) => [field, fault]),
  ),
  answer: { status: 201, body: topicView },
  otherAnswers: { 200: { description: 'Replaced', body: topicView } },
  errors: [fault, 'pool_not_found', 'config_version_conflict'],
});

export const removeTopic = endpoint({
  id: 'topics.remove',
  method: 'delete',
  path: '/api/v1/topics/:name',
  summary: 'Delete a topic registration of the caller’s tenant',
  access: write,
  audit: { type: 'topic_unregistered', action: 'topic.remove', resource: ['topic', 'name'] },
  params: { name: Joi.string().max(limits.topicChars).description('Topic.') },
  answer: { status: 204 },
  errors: ['topic_not_found', 'config_version_conflict', 'pool_version_conflict', 'pool_invalid_config'],
  otherTenant: 'absent',
});

export const topicEndpoints = [listTopics, registerTopic, removeTopic] as const;
