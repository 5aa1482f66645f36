import { getBundle as endpoint } from '@svc/contract';
import { answer } from '@svc/http';
import { getBundle as get } from '@svc/policy-admin';
import { handle } from '../../context';
import { bundleIdOf } from './bundle-id';

export const getBundle = handle(endpoint, async ({ params, query, caller, ctx }) => {
  const view = await get(ctx.policyShadows, caller, bundleIdOf(params, query));
  return answer(view, { headers: { ETag: `"${view.sha256}"` } });
});
