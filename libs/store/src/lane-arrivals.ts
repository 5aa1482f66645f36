import type { Redis } from 'ioredis';
import { keys, type Keys } from './keys';

/** A lane that a job was added to while no other job waited there. */
export interface LaneArrival {
  id: string;
  spec: string;
}

/** Notifies schedulers when a gateway adds a job to an idle lane. A lost message delays that job by one dispatch sweep. */
export class LaneArrivals {
  /**
   * @param listener a dedicated connection with automatic resubscription disabled
   * @param shardKeys of the shard; default: the first
   */
  constructor(
    private readonly listener: Redis,
    onArrival: (arrival: LaneArrival) => void,
    private readonly shardKeys: Pick<Keys, 'laneArrivals'> = keys,
  ) {
    // Published by accept-1.lua only.
    listener.on('message', (_channel, text: string) => onArrival(JSON.parse(text) as LaneArrival));
    // The client's automatic resubscription causes an unhandled rejection when the connection is closed during it.
    listener.on('ready', () => void this.open().catch(() => undefined));
  }

  /** Subscribes. After a reconnect it subscribes again. */
  async open(): Promise<void> {
    await this.listener.subscribe(this.shardKeys.laneArrivals());
  }

  close(): void {
    this.listener.disconnect();
  }
}
