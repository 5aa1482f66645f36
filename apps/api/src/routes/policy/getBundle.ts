import { getBundle as endpoint } from '@svc/contract';
import { answer } from '@svc/http';
import { getBundle as get } from '@svc/services';
import { handle } from '../../context';
import { bundleIdOf } from './bundle-id';

export const getBundle = handle(endpoint, async ({ params, query, ctx }) => {
  const view = await get(ctx.policyDocuments, bundleIdOf(params, query));
  return answer(view, { headers: { ETag: `"${view.sha256}"` } });
});
