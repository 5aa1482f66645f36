import { putArtifact as endpoint } from '@svc/contract';
import { putArtifact } from '@svc/jobs';
import { handle } from '../../context';
import { narrower } from './narrower';

export const put = handle(endpoint, ({ body, query, header, caller, ctx }) =>
  putArtifact(ctx.artifacts, caller, body, narrower(query.max_bytes, header('X-Max-Artifact-Bytes'))),
);
