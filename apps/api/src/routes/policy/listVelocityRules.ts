import { listVelocityRules as endpoint } from '@svc/contract';
import { listVelocityRules as list } from '@svc/policy-admin';
import { handle } from '../../context';

export const listVelocityRules = handle(endpoint, ({ ctx }) => list(ctx.policyDocuments));
