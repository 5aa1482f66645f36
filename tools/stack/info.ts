import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { KeyHolder, KeyName } from './keys';
import type { StoreAccess } from './stores';

/** Content of `stack.json`. Contains keys and passwords, hence mode 0600. */
export interface StackInfo extends StoreAccess {
  base_url: string;
  grpc_addr: string;
  /** The gateway's metrics. */
  metrics_url: string;
  /** Metrics and probes of each service. */
  metrics_urls: Record<string, string>;
  /** Authority that signed the certificates; empty without TLS. */
  ca_file: string;
  tls: boolean;
  tenant: string;
  keys: Record<KeyName, string>;
  principals: Record<KeyName, KeyHolder>;
  policy_file: string;
  scanners_file: string;
  pools_file: string;
  timeouts_file: string;
  license: string;
  /** Public key (PEM) by which workers verify what the services sign, where signatures or sessions are on. */
  service_key_file: string;
  /** Public key (PEM) by which workers verify the grants of dispatches. */
  grant_key_file: string;
  data_dir: string;
  /** Process ids of the running services. */
  pids: Record<string, number>;
  supervisor_pid: number;
}

export const writeInfo = (file: string, info: StackInfo): void => writePrivately(file, info);

/** Writes JSON for its owner only. Replaces the file atomically, so that readers never see a partial file. */
export function writePrivately(file: string, value: object): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}

export const removeInfo = (file: string) => rmSync(file, { force: true });

/** Content of the file; undefined when no stack runs on this folder. */
export const readInfo = (file: string): StackInfo | undefined =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StackInfo) : undefined;

/** Content of the file if its stack runs, also within this process. */
export function readRunningInfo(file: string): StackInfo | undefined {
  const info = readInfo(file);
  return info?.supervisor_pid === process.pid || runningSupervisor(file) !== undefined ? info : undefined;
}

/** @returns the process id of another running stack on this folder, if any */
export function runningSupervisor(file: string): number | undefined {
  const pid = readInfo(file)?.supervisor_pid;
  // In a container a new process often gets the id of the previous one.
  if (pid === undefined || pid === process.pid) return undefined;
  try {
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined; // it exited without removing the file
  }
}
