import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Admitted } from './admit-upgrade';

/** An admitted upgrade. */
export interface Upgrade extends Admitted {
  req: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  ip: string;
  /** Frees its place among the open streams. */
  release(): void;
}
