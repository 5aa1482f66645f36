import * as contract from '@svc/contract';
import { answer, handlersFor } from '@svc/http';
import { listTopics } from './list-topics';
import { registerTopic, type TopicWriteDeps } from './register-topic';
import { removeTopic } from './remove-topic';

/** Dependencies of these handlers. */
export interface TopicContext {
  topics: TopicWriteDeps;
}

const handle = handlersFor<TopicContext>();

/** Topics. */
export const topicRoutes = [
  handle(contract.listTopics, ({ caller, ctx }) => listTopics(ctx.topics, caller)),
  handle(contract.registerTopic, async ({ body, caller, ctx }) => {
    const { view, created } = await registerTopic(ctx.topics, caller, body);
    return answer(view, { status: created ? 201 : 200 });
  }),
  handle(contract.removeTopic, ({ params, caller, ctx }) => removeTopic(ctx.topics, caller, params.name)),
];
