import { freePort, tryPort } from '@svc/testing';

/**
 * Allocates ports of the loopback address, each once; the preferred one if it is free.
 *
 * @param usual whether preferred ports are tried: two stacks that start at once would both find them free
 */
export function portPicker(usual: boolean) {
  const given = new Set<number>();
  return async (wanted: number): Promise<number> => {
    let port = !usual || given.has(wanted) ? undefined : await tryPort(wanted);
    while (port === undefined || given.has(port)) port = await freePort();
    given.add(port);
    return port;
  };
}

export type PickPort = ReturnType<typeof portPicker>;

/** Host and port of an address such as `:8081`, `0.0.0.0:8081` or `[::1]:8081`, as a client on this machine dials it. */
export function dialable(address: string): string {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, Math.max(0, colon));
  const everywhere = ['', '0.0.0.0', '[::]', '*'].includes(host);
  return `${everywhere ? '127.0.0.1' : host}:${address.slice(colon + 1)}`;
}
