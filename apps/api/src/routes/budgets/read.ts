import { readBudgets as endpoint } from '@svc/contract';
import { readBudgets } from '@svc/budget';
import { handle } from '../../context';

export const read = handle(endpoint, ({ caller, query, ctx }) => readBudgets(ctx.budgets, caller, query));
