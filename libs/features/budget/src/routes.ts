import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { readBudgets } from './read-budgets';
import type { BudgetDeps } from './reserve-budget';

/** Dependencies of these handlers. */
export interface BudgetContext {
  budgets: BudgetDeps;
}

const handle = handlersFor<BudgetContext>();

/** Budgets. */
export const budgetRoutes = [
  handle(contract.readBudgets, ({ caller, query, ctx }) => readBudgets(ctx.budgets, caller, query)),
];
