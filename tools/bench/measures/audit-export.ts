import { auditRoutes, ExportMemory, type AuditContext, type Sealer } from '@svc/audit';
import { soc2Controls } from '@svc/audit-formats';
import { exportAudit, type Caller } from '@svc/contract';
import { mount, serve, type MountOptions } from '@svc/http';
import type { Store } from '@svc/store';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const admin: Caller = {
  principalId: 'ann',
  submitterId: 'ann',
  role: 'admin',
  tenant: 'default',
  scope: 'default',
  allowCrossTenant: false,
  source: 'api_key',
  keyId: 'k',
} as Caller;

const unused = (): never => {
  throw new Error('not part of an export');
};

/** MB/s of an export of the whole chain of the default tenant as NDJSON over HTTP: read and verified, then read and written. */
export async function exportRate(store: Store, sealer: Sealer, events: number): Promise<number> {
  const options: MountOptions = {
    authenticate: async () => ({ kind: 'caller', caller: admin, credential: {} as never }),
    gate: { rbac: () => false },
    bodyLimits: { json: 10_000, job: 10_000, artifact: 10_000, data: 10_000, dataset: 10_000, form: 10_000 },
    allowedOrigins: [],
    handlerTimeoutMs: 60_000,
    onDefect: (error) => {
      throw error;
    },
    checkAnswers: false,
  };
  const ctx = {
    auditExports: {
      store,
      clock: { nowMs: () => Date.now() },
      license: { entitlements: () => ({ siem_export: true, audit_export: true }) },
      verification: {
        sealer,
        hmacKey: undefined,
        witnesses: () => Promise.resolve([]),
        retentionHours: () => undefined,
      },
      controls: soc2Controls,
      version: '0.0.0',
      memory: new ExportMemory(128 * 1_024 * 1_024),
      onExported: () => undefined,
      onFailure: unused,
    },
  } as unknown as AuditContext;
  const route = auditRoutes.filter(({ endpoint }) => endpoint.id === exportAudit.id);
  const listening = await serve(mount(route, ctx, options).finish(), {
    host: '127.0.0.1',
    port: 0,
    requestTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    writeTimeoutMs: 60_000,
    maxConnections: 10,
    maxConnectionsPerAddress: 10,
    onProblem: unused,
  });
  try {
    const [from, to] = ['2026-09-01T00:00:00Z', '2026-10-31T00:00:00Z'].map(encodeURIComponent);
    const startedMs = performance.now();
    const { bytes, tail } = await download(
      `http://127.0.0.1:${listening.port}/api/v1/audit/export?from=${from}&to=${to}`,
    );
    const seconds = (performance.now() - startedMs) / 1_000;
    const footer = JSON.parse(tail.slice(tail.lastIndexOf('\n', tail.length - 2) + 1)) as Record<string, unknown>;
    if (footer['type'] !== 'footer' || Number(footer['event_count']) < events) {
      throw new Error(`the export is incomplete: ${tail.slice(-500)}`);
    }
    return bytes / 1e6 / seconds;
  } finally {
    await listening.close(100);
  }
}

/** Reads a response without keeping it, in a process of its own, as clients do. @returns its length and its last characters */
const download = async (url: string): Promise<{ bytes: number; tail: string }> => {
  const { stdout } = await run(process.execPath, ['-e', client, url], { maxBuffer: 1_000_000 });
  return JSON.parse(stdout) as { bytes: number; tail: string };
};

const run = promisify(execFile);
const client = `
  require('node:http').get(process.argv[1], (response) => {
    let [bytes, tail] = [0, ''];
    response.on('data', (part) => {
      bytes += part.length;
      tail = (tail.slice(-16384) + part.subarray(-16384).toString('utf8')).slice(-16384);
    });
    response.on('end', () => console.log(JSON.stringify({ bytes, tail })));
  });
`;
