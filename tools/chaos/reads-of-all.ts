import { Redis } from 'ioredis';

/** Commands that read a whole key, or the whole store. */
const always = new Set(['keys', 'smembers', 'hgetall', 'hkeys', 'hvals', 'sort', 'sunion', 'sinter', 'sdiff', 'scan']);
const byRank = new Set(['lrange', 'zrange', 'zrevrange']);
const byScore = new Set(['zrangebyscore', 'zrevrangebyscore', 'zrangebylex']);
/** Keys with bounded size: pools, workers, tenants, active entries. */
const few = 1_000;
const lastWord = 'the watch ends';

/**
 * Monitors every command that Redis executes, including those inside scripts, for reads of whole keys: they are fast with
 * little data, and block Redis with much.
 */
export class ReadsOfAll {
  private readonly found = new Map<string, { verb: string; key: string }>();

  private constructor(
    private readonly monitor: Redis,
    private readonly look: Redis,
  ) {
    monitor.on('monitor', (_, args: string[]) => this.note(args));
  }

  static async watch(url: string): Promise<ReadsOfAll> {
    const look = new Redis(url);
    return new ReadsOfAll(await look.monitor(), look);
  }

  /** Stops monitoring. @returns the reads of more than a thousand elements, by the current size of the key */
  async end(): Promise<string[]> {
    // MONITOR reports commands in order, so all earlier ones have arrived.
    const last = new Promise<void>((resolve) => {
      this.monitor.on('monitor', (_, [name, word]: string[]) => name === 'echo' && word === lastWord && resolve());
    });
    await this.look.echo(lastWord);
    await last;
    this.monitor.disconnect();
    const sizes = await Promise.all(
      [...this.found.values()].map(async ({ verb, key }) => ({ verb, key, size: await this.size(verb, key) })),
    );
    this.look.disconnect();
    return sizes.filter(({ size }) => size > few).map(({ verb, key, size }) => `${verb} ${key} (${size})`);
  }

  private note([name = '', key = '', from = '', to = '', ...rest]: string[]): void {
    const verb = name.toLowerCase();
    const isAll =
      always.has(verb) ||
      (byRank.has(verb) && from === '0' && to === '-1') ||
      (byScore.has(verb) && !rest.some((word) => word.toLowerCase() === 'limit'));
    if (isAll) this.found.set(`${verb} ${key}`, { verb, key });
  }

  private async size(verb: string, key: string): Promise<number> {
    if (verb === 'keys' || verb === 'scan') return Infinity;
    const { look } = this;
    switch (await look.type(key)) {
      case 'set':
        return look.scard(key);
      case 'zset':
        return look.zcard(key);
      case 'hash':
        return look.hlen(key);
      case 'list':
        return look.llen(key);
      default:
        return 0;
    }
  }
}
