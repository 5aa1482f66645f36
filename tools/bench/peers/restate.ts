import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endChild, freePort, isRunning, spawnLeashed } from '@svc/testing';
import { firstMessage, startChild, stopChild } from '../../child-program';
import { repositoryRoot } from '../../stack/settings';
import { HttpLoad, httpRequest } from '../http-load';
import type { RoundTrips } from '../round-trips';
import { submissionBody } from '../submission';
import { installRestate, restateProgram } from './install';

const startWithinMs = 60_000;

/** A Restate server with its defaults and data on disk, and one process that serves the bench's service. */
export class Restate {
  private constructor(
    private readonly server: ChildProcess,
    private readonly service: ChildProcess,
    private readonly ingressPort: number,
    private readonly dataDir: string,
  ) {}

  static async start(say: (text: string) => void): Promise<Restate> {
    const folder = await installRestate(say);
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-restate-'));
    const [ingress, admin, fabric] = [await freePort(), await freePort(), await freePort()];
    const listen = ['--listen-mode', 'tcp', '--bind-ip', '127.0.0.1', '--bind-port', String(fabric)];
    const server = spawnLeashed(
      restateProgram(folder),
      [...listen, '--base-dir', dataDir, '--node-name', 'bench', '--no-logo', '--log-filter', 'error'],
      {
        env: {
          ...process.env,
          RESTATE_INGRESS__BIND_PORT: String(ingress),
          RESTATE_ADMIN__BIND_PORT: String(admin),
          RESTATE_DISABLE_TELEMETRY: 'true',
        },
        output: 'ignore',
        scratchDir: dataDir,
      },
    );
    const service = startChild(join(repositoryRoot, 'tools/bench/peers/restate-service.cjs'), {
      ...process.env,
      NODE_ENV: 'production',
      BENCH_PEER_DIR: folder,
    });
    const restate = new Restate(server, service, ingress, dataDir);
    try {
      const servicePort = Number(await firstMessage(service));
      await restate.untilServing(admin);
      await restate.register(admin, servicePort);
    } catch (error) {
      await restate.stop();
      throw error;
    }
    return restate;
  }

  /**
   * Clients that call a handler and wait for its result, one call each at a time.
   *
   * @throws Error when a call does not succeed
   */
  async calls(handler: 'one' | 'three', inFlight: number, count: number): Promise<RoundTrips> {
    const load = await HttpLoad.open(this.ingressPort, inFlight);
    const request = httpRequest('POST', `/bench/${handler}`, {}, JSON.stringify(submissionBody()));
    const ms: number[] = [];
    const startedMs = performance.now();
    try {
      await load.run(count, async (send) => {
        const sentMs = performance.now();
        const { status, body } = await send(request);
        if (status !== 200) throw new Error(`a call to Restate got status ${status}: ${body}`);
        ms.push(performance.now() - sentMs);
      });
      return { ms, rate: (count / (performance.now() - startedMs)) * 1_000 };
    } finally {
      load.close();
    }
  }

  async stop(): Promise<void> {
    await stopChild(this.service);
    await endChild(this.server, 'SIGTERM', 10_000);
    rmSync(this.dataDir, { recursive: true, force: true, maxRetries: 3 });
  }

  private async untilServing(adminPort: number): Promise<void> {
    const deadlineMs = Date.now() + startWithinMs;
    const isUp = () => fetch(`http://127.0.0.1:${adminPort}/health`).then(({ ok }) => ok, () => false); // prettier-ignore
    while (!(await isUp())) {
      if (!isRunning(this.server)) throw new Error('Restate ended before it was ready');
      if (Date.now() > deadlineMs) throw new Error(`Restate was not ready within ${startWithinMs / 1_000} s`);
      await sleep(50);
    }
  }

  private async register(adminPort: number, servicePort: number): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${adminPort}/deployments`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${servicePort}` }),
    });
    if (!response.ok) throw new Error(`Restate refused the service: ${await response.text()}`);
  }
}
