import { policyAudit as endpoint } from '@svc/contract';
import { listPolicyAudit } from '@svc/services';
import { handle } from '../../context';

export const audit = handle(endpoint, ({ query, caller, ctx }) => listPolicyAudit(ctx.policyDocuments, caller, query));
