import { getStatus as endpoint } from '@svc/contract';
import { answer } from '@svc/http';
import { readStatus } from '@svc/status';
import { handle } from '../../context';

export const get = handle(endpoint, async ({ caller, ctx }) => {
  const { status, fresh } = await readStatus(ctx.status, caller);
  return answer(status, { headers: { 'X-Cache': fresh ? 'MISS' : 'HIT' } });
});
