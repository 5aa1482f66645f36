import { addVelocityRule as endpoint } from '@svc/contract';
import { addVelocityRule as add } from '@svc/policy-admin';
import { handle } from '../../context';

export const addVelocityRule = handle(endpoint, ({ body, caller, ctx }) => add(ctx.policyDocuments, caller, body));
