import { readyz as endpoint } from '@svc/contract';
import { answer } from '@svc/http';
import { handle } from '../../context';

export const readyz = handle(endpoint, async ({ ctx }) => {
  const { status, body } = await ctx.health.readyz();
  return answer({ ...body }, { status });
});
