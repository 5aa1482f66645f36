import { putJobArtifact as endpoint } from '@svc/contract';
import { putJobArtifact } from '@svc/jobs';
import { handle } from '../../context';

export const putArtifact = handle(endpoint, ({ params, query, bytes, ctx }) =>
  putJobArtifact(ctx.dataUrls, params.id, query, bytes),
);
