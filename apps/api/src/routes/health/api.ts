import { apiHealth as endpoint } from '@svc/contract';
import { answer } from '@svc/http';
import { handle } from '../../context';
import { dependencyHealth } from './dependency-health';

export const api = handle(endpoint, async ({ ctx }) => {
  const { status, body } = await dependencyHealth(ctx);
  return answer(body, { status });
});
