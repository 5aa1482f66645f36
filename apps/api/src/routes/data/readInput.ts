import { readJobInput as endpoint } from '@svc/contract';
import { readJobInput } from '@svc/jobs';
import { handle } from '../../context';

export const readInput = handle(endpoint, async ({ params, query, ctx }) =>
  Buffer.from(await readJobInput(ctx.dataUrls, params.id, query.token)),
);
