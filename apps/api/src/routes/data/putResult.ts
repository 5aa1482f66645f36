import { putJobResult as endpoint } from '@svc/contract';
import { putJobResult } from '@svc/services';
import { handle } from '../../context';

export const putResult = handle(endpoint, ({ params, query, bytes, ctx }) =>
  putJobResult(ctx.dataUrls, params.id, query.token, bytes),
);
