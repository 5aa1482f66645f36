import { listTopics as endpoint } from '@svc/contract';
import { listTopics } from '@svc/registry';
import { handle } from '../../context';

export const list = handle(endpoint, ({ caller, ctx }) => listTopics(ctx.topics, caller));
