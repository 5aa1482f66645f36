import type { JournalClient } from './client';

/** A client for each role that chaos load acts in. */
export interface People {
  admin: JournalClient;
  approver: JournalClient;
}
