import { registerTopic as endpoint } from '@svc/contract';
import { answer } from '@svc/http';
import { registerTopic } from '@svc/registry';
import { handle } from '../../context';

export const register = handle(endpoint, async ({ body, caller, ctx }) => {
  const { view, created } = await registerTopic(ctx.topics, caller, body);
  return answer(view, { status: created ? 201 : 200 });
});
