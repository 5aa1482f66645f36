import { getArtifact as endpoint } from '@svc/contract';
import { getArtifact } from '@svc/jobs';
import { handle } from '../../context';
import { narrower } from './narrower';

export const get = handle(endpoint, ({ params, query, header, caller, ctx }) =>
  getArtifact(ctx.artifacts, caller, params.ptr, narrower(query.max_bytes, header('X-Max-Artifact-Bytes'))),
);
