import { heartbeatCapacity } from '../heartbeats';
import type { Session } from '../session';

/** See `heartbeatCapacity`. */
export const attestedHeartbeats =
  (packets: 'unsigned' | 'signed') =>
  ({ sizes, say }: Session): Promise<number> =>
    heartbeatCapacity({ ...sizes.heartbeats, isSigned: packets === 'signed', say });
