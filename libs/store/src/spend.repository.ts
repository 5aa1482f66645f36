import type { Redis } from 'ioredis';
import type { Keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

/** One budget in one period; amounts in micros (millionths of a US dollar). */
export interface SpendAccount {
  /** `tenant:acme`, `team:acme:ml`, `workflow:acme:etl`. */
  account: string;
  /** `2026-11-22` or `2026-11`. */
  period: string;
  /** 0 = none. */
  limit: number;
  action: 'throttle' | 'deny' | 'alert';
  /** Alert thresholds, percent of the limit. */
  alerts: readonly number[];
  /** Cost centre to which its spending is also charged. */
  center?: string;
  ttlSec: number;
}

export interface Reservation {
  micros: number;
  accounts: readonly SpendAccount[];
  run: { limit: number; action: 'throttle' | 'deny' | 'alert' };
}

export type ReserveOutcome =
  | { kind: 'reserved' }
  | { kind: 'refused'; state: string }
  | { kind: 'missing' }
  | {
      kind: 'over';
      action: 'throttle' | 'deny';
      /** Index of the account, or the id of a run. */
      of: { account: number } | { run: string };
      limit: number;
      spent: number;
      reserved: number;
    };

/** Current amounts of an account, in micros. */
export interface Spending {
  spent: number;
  reserved: number;
  byCenter: Record<string, number>;
  /** Thresholds with a published alert. */
  alertedPercents: number[];
}

/** A reached threshold of a budget; amounts in micros. */
export interface SpendAlert {
  /** Account name, or `run:<id>`. */
  account: string;
  /** '' for a run. */
  period: string;
  percent: number;
  limit: number;
  spent: number;
  reserved: number;
  /** Stored form, used for its removal. */
  text: string;
}

/** The reservation as `reserve_spend` in `spend.lua` expects it. */
export const reservationDocument = ({ micros, accounts, run }: Reservation): object => ({
  micros,
  accounts: accounts.map(({ ttlSec, ...account }) => ({ ...account, ttl_sec: ttlSec })),
  run_limit: run.limit,
  run_action: run.action,
});

/** Spending: reserved before the dispatch of a job, committed by the transition that ends it. */
export class SpendRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** Reserves in all accounts and runs of a job, or in none. Idempotent: a job reserves once. */
  async reserve(jobId: string, reservation: Reservation): Promise<ReserveOutcome> {
    const document = luaJson(reservationDocument(reservation));
    const reply = await runScript(this.redis, 'reserve', this.keys.job(jobId), document);
    const [kind = '', detail = '', what = '', who = '', ...amounts] = reply as string[];
    switch (kind) {
      case 'over': {
        const [limit = 0, spent = 0, reserved = 0] = amounts.map(Number);
        const of = what === 'run' ? { run: who } : { account: Number(who) - 1 };
        return { kind, action: detail === 'deny' ? 'deny' : 'throttle', of, limit, spent, reserved };
      }
      case 'refused':
        return { kind, state: detail };
      case 'missing':
        return { kind };
      default:
        return { kind: 'reserved' };
    }
  }

  /** Current amounts of accounts, in the given order; one round trip. */
  async read(accounts: readonly Pick<SpendAccount, 'account' | 'period'>[]): Promise<Spending[]> {
    const fields = await Promise.all(
      accounts.map(({ account, period }) => this.redis.hgetall(this.keys.spend(account, period))),
    );
    return fields.map(toSpending);
  }

  /** Unpublished alerts, oldest first. */
  async alerts(limit: number): Promise<SpendAlert[]> {
    const found = await this.redis.lrange(this.keys.spendAlerts(), 0, limit - 1);
    return found.map((text) => ({ ...(JSON.parse(text) as Omit<SpendAlert, 'text'>), text }));
  }

  /** Removes published alerts, by value: their positions may have changed since they were read. */
  async removeAlerts(alerts: readonly SpendAlert[]): Promise<void> {
    await Promise.all(alerts.map(({ text }) => this.redis.lrem(this.keys.spendAlerts(), 1, text)));
  }
}

function toSpending(fields: Record<string, string>): Spending {
  const named = (prefix: string) =>
    Object.entries(fields).flatMap(([field, value]) =>
      field.startsWith(prefix) ? [[field.slice(prefix.length), value] as const] : [],
    );
  return {
    spent: Number(fields['spent'] ?? 0),
    reserved: Number(fields['reserved'] ?? 0),
    byCenter: Object.fromEntries(named('center:').map(([name, micros]) => [name, Number(micros)])),
    alertedPercents: named('told:').map(([percent]) => Number(percent)),
  };
}
