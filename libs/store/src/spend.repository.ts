import type { Redis } from 'ioredis';
import { keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

/** One budget within one period; amounts in micros (millionths of a US dollar). */
export interface SpendAccount {
  /** `tenant:acme`, `team:acme:ml`, `workflow:acme:etl`. */
  account: string;
  /** `2026-11-22` or `2026-11`. */
  period: string;
  /** 0 = none. */
  limit: number;
  action: 'throttle' | 'deny' | 'alert';
  /** Percents of the limit that are told when they are reached. */
  alerts: readonly number[];
  /** By what else its spending is counted. */
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

/** What an account has come to; amounts in micros. */
export interface Spending {
  spent: number;
  reserved: number;
  byCenter: Record<string, number>;
  /** Percents that were told. */
  told: number[];
}

/** Part of a budget that was reached, once; amounts in micros. */
export interface SpendAlert {
  /** As of accounts; `run:<id>` of a run. */
  account: string;
  /** '' of a run. */
  period: string;
  percent: number;
  limit: number;
  spent: number;
  reserved: number;
  /** As it stands in the store. */
  text: string;
}

/** What work costs: reserved before it goes to a worker, settled by the move that ends it. */
export class SpendRepository {
  constructor(private readonly redis: Redis) {}

  /** Reserves in every account and run of a job, or in none. Safe to repeat: a job reserves once. */
  async reserve(jobId: string, { micros, accounts, run }: Reservation): Promise<ReserveOutcome> {
    const document = {
      micros,
      accounts: accounts.map(({ ttlSec, ...account }) => ({ ...account, ttl_sec: ttlSec })),
      run_limit: run.limit,
      run_action: run.action,
    };
    const reply = await runScript(this.redis, 'reserve', keys.job(jobId), luaJson(document));
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

  /** What accounts have come to, in their order; one round trip. */
  async read(accounts: readonly Pick<SpendAccount, 'account' | 'period'>[]): Promise<Spending[]> {
    const fields = await Promise.all(
      accounts.map(({ account, period }) => this.redis.hgetall(keys.spend(account, period))),
    );
    return fields.map(spendingOf);
  }

  /** Alerts that nobody has told yet, oldest first. */
  async alerts(most: number): Promise<SpendAlert[]> {
    const found = await this.redis.lrange(keys.spendAlerts(), 0, most - 1);
    return found.map((text) => ({ ...(JSON.parse(text) as Omit<SpendAlert, 'text'>), text }));
  }

  /** These were told. Each by itself: whoever else told them, others have taken their places since. */
  async alertsTold(alerts: readonly SpendAlert[]): Promise<void> {
    await Promise.all(alerts.map(({ text }) => this.redis.lrem(keys.spendAlerts(), 1, text)));
  }
}

function spendingOf(fields: Record<string, string>): Spending {
  const named = (prefix: string) =>
    Object.entries(fields).flatMap(([field, value]) =>
      field.startsWith(prefix) ? [[field.slice(prefix.length), value] as const] : [],
    );
  return {
    spent: Number(fields['spent'] ?? 0),
    reserved: Number(fields['reserved'] ?? 0),
    byCenter: Object.fromEntries(named('center:').map(([name, micros]) => [name, Number(micros)])),
    told: named('told:').map(([percent]) => Number(percent)),
  };
}
