import { getConfig } from '@svc/contract';
import { readConfig } from '@svc/settings';
import { handle } from '../../context';

export const get = handle(getConfig, async ({ query, caller, ctx }) => {
  const document = await readConfig(ctx.config, caller, query);
  return query.envelope ? { ...document } : document.data;
});
