import { policyAudit as endpoint } from '@svc/contract';
import { listPolicyAudit } from '@svc/audit';
import { handle } from '../../context';

export const audit = handle(endpoint, ({ query, caller, ctx }) => listPolicyAudit(ctx.policyDocuments, caller, query));
