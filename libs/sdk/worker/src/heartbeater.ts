import { randomUUID } from 'node:crypto';
import { freemem, loadavg, cpus, totalmem } from 'node:os';
import {
  bootIdLabel,
  ComponentRole,
  dispatchEchoLabel,
  effectsLabel,
  grantsLabel,
  handshakePacket,
  heartbeatPacket,
  inlineDataLabel,
  protocolVersion,
  storeAccessLabel,
  subjects,
} from '@svc/contract';
import type { Link } from './link';
import type { WorkerSettings } from './options';
import { sdkVersion } from './version';

const handshakeMs = 30_000;
/** Bounds the packet; further jobs are listed once others have ended. */
const MAX_LISTED_JOBS = 256;
const othersReconnectMs = 2_500;
const abilities = ['progress', 'cancel', 'error_codes', 'heartbeats', 'conformance.core', 'conformance.standard'];
const percent = (part: number) => Math.min(100, Math.max(0, part * 100));

/** Announces this worker to the schedulers: heartbeats, capabilities and topics. */
export class Heartbeater {
  private timers: NodeJS.Timeout[] = [];
  private isDraining = false;
  /** Distinguishes this process from an earlier one with the same id. */
  private readonly bootId = randomUUID();

  constructor(
    private readonly link: Link,
    private readonly settings: WorkerSettings,
    private readonly running: () => { active: number; jobIds: string[] },
  ) {}

  start(): void {
    this.announce();
    this.timers = [
      setInterval(() => this.heartbeat(), this.settings.heartbeatMs),
      setInterval(() => this.handshake(), handshakeMs),
    ];
  }

  /** After a reconnect: now, and again for schedulers that reconnect later. */
  announceTwice(): void {
    this.announce();
    this.timers.push(setTimeout(() => this.announce(), othersReconnectMs));
  }

  /** Both at once: at the start, and when the worker begins to drain. */
  announce(): void {
    this.handshake();
    this.heartbeat();
  }

  /** Announces draining: no new jobs, running ones finish. */
  drain(): void {
    this.isDraining = true;
    this.announce();
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  private heartbeat(): void {
    const { id, pool, region, type, concurrency, capabilities, authToken, agentName } = this.settings;
    const { active, jobIds } = this.running();
    const packet = heartbeatPacket(this.link.head(''), {
      worker_id: id,
      pool,
      region,
      type,
      active_jobs: active,
      running_jobs: jobIds.slice(0, MAX_LISTED_JOBS),
      max_parallel_jobs: concurrency,
      capabilities: [...capabilities],
      labels: this.labels(),
      cpu_load: percent((loadavg()[0] ?? 0) / cpus().length),
      memory_load: percent(1 - freemem() / totalmem()),
      auth_token: authToken,
      agent_name: agentName,
    });
    this.link.send(subjects.heartbeat.name, packet);
  }

  private labels(): Record<string, string> {
    const { labels, redisUrl, grants, effects } = this.settings;
    return {
      ...labels,
      [bootIdLabel]: this.bootId,
      [dispatchEchoLabel]: 'true',
      [inlineDataLabel]: 'true',
      ...(effects && { [effectsLabel]: 'true' }),
      ...(grants.mode !== 'off' && { [grantsLabel]: 'true' }),
      ...(redisUrl && { [storeAccessLabel]: 'true' }),
    };
  }

  private handshake(): void {
    const { id, topics, agentName } = this.settings;
    const signed = this.link.trust.signs ? ['signatures'] : [];
    const names = [...abilities, ...signed, ...(this.isDraining ? ['x-draining'] : [])];
    const packet = handshakePacket(this.link.head(''), {
      component_id: id,
      role: ComponentRole.COMPONENT_ROLE_WORKER,
      supported_versions: [protocolVersion],
      capabilities: Object.fromEntries(names.map((name) => [name, true])),
      sdk_version: sdkVersion,
      ready_topics: this.isDraining ? [] : Object.keys(topics),
      agent_name: agentName,
    });
    this.link.send(subjects.handshake.name, packet);
  }
}
