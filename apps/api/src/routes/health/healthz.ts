import { healthz as endpoint } from '@svc/contract';
import { answer } from '@svc/http';
import { handle } from '../../context';

export const healthz = handle(endpoint, async ({ ctx }) => {
  const { status, body } = ctx.health.healthz();
  return answer({ ...body }, { status });
});
