import { alertPacket, subjects } from '@svc/contract';
import { toUsd } from '@svc/policy';
import type { SpendAlert, Store } from '@svc/store';
import type { Clock, JobBus } from '@svc/platform';

export interface SpendAlertDeps {
  store: Pick<Store, 'spend'>;
  bus: Pick<JobBus, 'publish'>;
  clock: Clock;
  senderId: string;
  events: { budgetReached(alert: SpendAlert): void };
}

const MAX_ALERTS = 100;

/**
 * Reports reached budget thresholds, each once, oldest first: on the bus, in the log and in a metric. Runs on one replica at a
 * time. After a crash before `removeAlerts`, the report is repeated.
 * See docs/reference/config.md#budgets.
 */
export async function publishSpendAlerts(deps: SpendAlertDeps): Promise<void> {
  const alerts = await deps.store.spend.alerts(MAX_ALERTS);
  for (const alert of alerts) {
    const { account, period, percent, limit, spent, reserved } = alert;
    const head = { trace_id: account, sender_id: deps.senderId, nowUs: deps.clock.nowUs() };
    await deps.bus.publish(
      subjects.alert.name,
      alertPacket(head, {
        severity: percent >= 100 ? 'error' : 'warning',
        message: `${percent} % of the budget of ${account}${period && ` for ${period}`} is used`,
        details: {
          account,
          period,
          percent: String(percent),
          limit_usd: String(toUsd(limit)),
          spent_usd: String(toUsd(spent)),
          reserved_usd: String(toUsd(reserved)),
        },
      }),
    );
    deps.events.budgetReached(alert);
  }
  await deps.store.spend.removeAlerts(alerts);
}
