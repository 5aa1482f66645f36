/** Spend limits: reservations, and alerts when a share of a budget is used. */
export { readBudgets } from './read-budgets';
export {
  type BudgetDeps,
  budgetMessage,
  type BudgetRefusal,
  budgetWaitMs,
  checkJobBudget,
  mayFreeBudget,
  planReservation,
  reserveBudget,
} from './reserve-budget';
export { publishSpendAlerts } from './publish-alerts';
export { budgetRoutes, type BudgetContext } from './routes';
