import { readMemory as endpoint } from '@svc/contract';
import { readMemory } from '@svc/jobs';
import { handle } from '../../context';

export const read = handle(endpoint, ({ query, caller, ctx }) =>
  readMemory(ctx.submit, caller, query.ptr ?? query.key),
);
