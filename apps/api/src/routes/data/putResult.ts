import { putJobResult as endpoint } from '@svc/contract';
import { putJobResult } from '@svc/jobs';
import { handle } from '../../context';

export const putResult = handle(endpoint, ({ params, query, bytes, ctx }) =>
  putJobResult(ctx.dataUrls, params.id, query.token, bytes),
);
