import { randomBytes, randomUUID } from 'node:crypto';

/** Source of identifiers, passed in so that tests can fix them. */
export interface Ids {
  /** A random UUID, version 4. */
  uuid(): string;
  /** Lower-case hexadecimal digits from a cryptographic source, `bytes` × 2 of them. */
  hex(bytes: number): string;
}

/** Unpredictable identifiers. */
export const randomIds = (): Ids => ({ uuid: () => randomUUID(), hex: (bytes) => randomBytes(bytes).toString('hex') });
