import { livez as endpoint } from '@svc/contract';
import { answer } from '@svc/http';
import { handle } from '../../context';

export const livez = handle(endpoint, async ({ ctx }) => {
  const { status, body } = ctx.health.livez();
  return answer({ ...body }, { status });
});
