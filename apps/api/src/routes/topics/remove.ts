import { removeTopic as endpoint } from '@svc/contract';
import { removeTopic } from '@svc/registry';
import { handle } from '../../context';

export const remove = handle(endpoint, ({ params, caller, ctx }) => removeTopic(ctx.topics, caller, params.name));
