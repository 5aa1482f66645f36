import { AppError } from '@svc/contract';

export interface StreamCaps {
  /** Maximum open streams of a tenant on this replica. */
  perTenant: number;
  /** Maximum open streams of a client address on this replica. */
  perAddress: number;
}

const TENANT = 'tenant ';

/** Counts the open streams of tenants and addresses. */
export class StreamLimits {
  private readonly open = new Map<string, number>();

  constructor(private readonly caps: StreamCaps) {}

  /** Number of open streams. */
  get count(): number {
    return [...this.open].reduce((sum, [key, count]) => (key.startsWith(TENANT) ? sum + count : sum), 0);
  }

  /**
   * @returns a function that releases the stream; safe to repeat
   * @throws too_many_streams
   */
  take(tenant: string, address: string): () => void {
    const { perTenant, perAddress } = this.caps;
    const counted: [key: string, most: number][] = [
      [TENANT + tenant, perTenant],
      [`address ${address}`, perAddress],
    ];
    if (counted.some(([key, most]) => (this.open.get(key) ?? 0) >= most)) {
      throw new AppError('too_many_streams', {}, { 'Retry-After': '5' });
    }
    for (const [key] of counted) this.open.set(key, (this.open.get(key) ?? 0) + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      for (const [key] of counted) {
        const left = (this.open.get(key) ?? 1) - 1;
        if (left > 0) this.open.set(key, left);
        else this.open.delete(key);
      }
    };
  }
}
