import { queues } from '@svc/queues.config';
import { openStore, type Store } from '@svc/store';
import { useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { EffectiveConfig } from './effective-config';
import type { AnnounceDeps } from './announce-change';
import { type ChangeDeps, changeDocument, readDocument } from './documents';

/** Config documents on a Redis of this file's own, empty before each test; the clock moves only when a test advances it. */
export function useConfig() {
  let open: { redis: Redis; store: Store } | undefined;
  afterAll(async () => void (await open?.redis.quit()));
  const servers = useServers();
  beforeAll(() => {
    const redis = new Redis(servers.redisUrl);
    open = { redis, store: openStore(redis, queues, { metaSec: 3_600, dataSec: 600 }) };
  });
  const opened = () => {
    if (!open) throw new Error('the store is open only inside hooks and tests');
    return open;
  };
  const time = { nowMs: 1_800_000_000_000 };
  const clock = { nowMs: () => time.nowMs, nowUs: () => time.nowMs * 1_000 };
  const notices: unknown[] = [];
  beforeEach(() => void notices.splice(0));
  return {
    time,
    /** Notices that were published; they have no subscriber. */
    notices,
    get store() {
      return opened().store;
    },
    get redis() {
      return opened().redis;
    },
    /** Opens another replica. */
    replica(): ChangeDeps & AnnounceDeps {
      const { store } = opened();
      const publish = async (_: string, packet: unknown) => void notices.push(packet);
      return {
        store,
        clock,
        random: { uuid: randomUUID, hex: () => '', number: () => 0 },
        bus: { publish, publishDurable: publish },
        senderId: 'test',
        config: new EffectiveConfig(store, clock),
        onNoticeFailed: () => undefined,
      };
    },
    /** Writes a document, replacing a stored one. */
    given(scope: string, scope_id: string, data: Record<string, unknown>) {
      return changeDocument({ store: opened().store, clock }, { scope, scope_id }, () => ({ data }));
    },
    stored: (scope: string, scope_id: string) => readDocument({ store: opened().store }, { scope, scope_id }),
  };
}
