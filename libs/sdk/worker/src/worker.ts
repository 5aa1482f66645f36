import { subjects, WireErrorCode } from '@svc/contract';
import { Events, type JsMsg, type Msg } from 'nats';
import { Heartbeater } from './heartbeater';
import { DataAccess } from './data-access';
import { JobAborted, RetryableError } from './errors';
import { Executor, type Incoming, type StoredResult } from './executor';
import { LeaseRenewer } from './lease-renewer';
import { Ledger, type Receipt } from './ledger';
import { Link, traceHeaders } from './link';
import type { WorkerSettings } from './options';
import { Slots } from './slots';
import { SubjectSource } from './subject-source';
import type { Worker } from './types';

/** Parts of a running worker. */
interface Parts {
  link: Link;
  data: DataAccess;
  leaseRenewer: LeaseRenewer;
  executor: Executor;
  heartbeater: Heartbeater;
  own: SubjectSource[];
  shared: SubjectSource[];
}

const overflowDelayMs = 200;
/** Core NATS has no acknowledgements. */
const noReceipt: Receipt = {
  ack: () => undefined,
  nak: () => undefined,
  term: () => undefined,
  working: () => undefined,
};

/** An external worker: pulls jobs while it has free slots, runs them, and publishes their results. */
export class RunningWorker implements Worker {
  private readonly slots: Slots;
  private readonly ledger = new Ledger<StoredResult>();
  private readonly onSignal = () => void this.stop();
  private connecting: Promise<Parts> | undefined;
  private starting: Promise<void> | undefined;
  private stopping: Promise<void> | undefined;
  private isDraining = false;

  constructor(private readonly settings: WorkerSettings) {
    this.slots = new Slots(settings.concurrency);
  }

  get id(): string {
    return this.settings.id;
  }

  start(): Promise<void> {
    this.starting ??= this.open();
    return this.starting;
  }

  stop(): Promise<void> {
    this.stopping ??= this.close();
    return this.stopping;
  }

  private async open(): Promise<void> {
    this.connecting = this.connect();
    const { link, heartbeater, own, shared } = await this.connecting;
    await Promise.all([...own, ...shared].map(({ ready }) => ready));
    // Before the first heartbeat, which may have to prove the session.
    await link.session?.open();
    if (this.isDraining) return;
    heartbeater.start();
    for (const signal of this.settings.signals) process.once(signal, this.onSignal);
    // Reached only on a permanent close; a lost connection reconnects indefinitely.
    void link.connection.closed().then(() => this.stop());
  }

  private async connect(): Promise<Parts> {
    const { settings, ledger } = this;
    const link = await Link.open(settings);
    const data = new DataAccess(settings, (error) => settings.onError(error, 'redis'));
    let isConnected = true;
    const leaseRenewer = new LeaseRenewer(ledger, settings.ackWaitMs, () => isConnected);
    const onSessionEnded = (sessionId: string) => {
      if (link.session?.end(sessionId)) void link.session.open().then(() => heartbeater.announce());
    };
    const executor = new Executor({ settings, link, data, ledger, leaseRenewer, onSessionEnded });
    const heartbeater = new Heartbeater(link, settings, () => ({
      active: this.slots.inUse,
      jobIds: Array.from(ledger.running(), ({ identity }) => identity.jobId),
    }));
    const parts: Parts = { link, data, leaseRenewer, executor, heartbeater, own: [], shared: [] };
    this.listen(parts);
    void (async () => {
      for await (const { type } of link.connection.status()) {
        if (type === Events.Disconnect) isConnected = false;
        if (type !== Events.Reconnect) continue;
        isConnected = true;
        for (const source of [...parts.own, ...parts.shared]) source.pullAgain();
        heartbeater.announceTwice();
        if (link.session?.token === '') void link.session.open();
      }
    })();
    await link.connection.flush();
    return parts;
  }

  private listen(parts: Parts): void {
    const { link, executor } = parts;
    const { settings } = this;
    link.connection.subscribe(subjects.jobCancel.name, {
      callback: (error, { data }) => {
        if (!error) executor.offerCancel(data);
      },
    });
    const { onError } = settings;
    const topics = Object.keys(settings.topics).map((topic) => link.topicConsumer(topic));
    const subscribe = (subject: string, queue?: string) =>
      link.connection.subscribe(subject, {
        ...(queue !== undefined && { queue }),
        callback: (error, message) =>
          error ? onError(error, `subscribing to ${subject}`) : this.offerCore(parts, message),
      });
    if (!settings.jetstream) {
      subscribe(link.ownConsumer().subject);
      for (const { subject, group } of topics) subscribe(subject, group);
      return;
    }
    const whenFree = () => this.slots.whenFree();
    const offerOwn = (message: JsMsg) => this.offerOwn(parts, message);
    const offerShared = (message: JsMsg) => this.offerShared(parts, message);
    // The scheduler counts this worker's slots, so its own subject never has more messages than free slots.
    const own = { whenFree, room: () => settings.concurrency, offer: offerOwn, onError };
    parts.own = [new SubjectSource(link, link.ownConsumer(), own)];
    const shared = { whenFree, room: () => this.slots.room, offer: offerShared, onError };
    parts.shared = topics.map(
      (spec) =>
        new SubjectSource(link, spec, {
          ...shared,
          // Permissions cannot match the names of the consumers of all topics under a pattern. Without a consumer a job is
          // not delivered again, which is safe: the scheduler dispatches on the worker's own subject.
          onForbidden: () => void subscribe(spec.subject, spec.group),
        }),
    );
  }

  /** No other worker gets this message, so it waits for a slot. */
  private offerOwn(parts: Parts, message: JsMsg): Promise<void> | undefined {
    if (!this.slots.tryTake()) return this.hold(parts, message);
    this.run(parts, toIncoming(message));
    return undefined;
  }

  private async hold(parts: Parts, message: JsMsg): Promise<void> {
    if (await parts.leaseRenewer.hold(message, this.slots.take())) return this.run(parts, toIncoming(message));
    await this.refuse(parts, toIncoming(message), 'the worker is stopping');
  }

  /** Another worker may have a free slot. */
  private offerShared(parts: Parts, message: JsMsg): void {
    if (!this.slots.tryTake()) return message.nak(overflowDelayMs);
    this.run(parts, toIncoming(message));
  }

  private offerCore(parts: Parts, { subject, data, headers }: Msg): void {
    const incoming = { subject, bytes: data, deliveries: 1, receipt: noReceipt, trace: traceHeaders(headers) };
    if (this.slots.tryTake()) this.run(parts, incoming);
    else void this.refuse(parts, incoming, this.isDraining ? 'the worker is stopping' : 'the worker is full');
  }

  private run({ executor }: Parts, incoming: Incoming): void {
    void executor.handle(incoming).then(() => this.slots.free());
  }

  private async refuse({ executor }: Parts, incoming: Incoming, message: string): Promise<void> {
    const errorCode = WireErrorCode.ERROR_CODE_RESOURCE_EXHAUSTED;
    try {
      await executor.refuse(incoming, new RetryableError(message, { code: 'worker_unavailable', errorCode }));
    } catch (error) {
      this.settings.onError(error, 'refusing a job');
    }
  }

  private async close(): Promise<void> {
    this.isDraining = true;
    this.slots.close();
    const parts = await this.connecting;
    if (!parts) return;
    const { link, data, leaseRenewer, executor, heartbeater, own, shared } = parts;
    const { graceMs, signals } = this.settings;
    for (const signal of signals) process.removeListener(signal, this.onSignal);
    heartbeater.drain();
    await Promise.all(shared.map((source) => source.stop()));
    await this.finished(graceMs);
    for (const { abort } of this.ledger.running()) abort.abort(new JobAborted('shutdown', 'the worker is stopping'));
    // Another grace period for the aborted jobs; then their results are sent.
    await this.finished(graceMs + 5_000);
    heartbeater.stop();
    leaseRenewer.stop();
    executor.stop();
    await Promise.all(own.map((source) => source.stop()));
    await link.close();
    await data.close();
  }

  /** Resolves when no job runs, or after the timeout. */
  private async finished(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<void>((resume) => (timer = setTimeout(resume, withinMs)));
    await Promise.race([this.slots.whenIdle(), timeUp]);
    clearTimeout(timer);
  }
}

const toIncoming = (message: JsMsg): Incoming => ({
  subject: message.subject,
  bytes: message.data,
  deliveries: message.info.deliveryCount,
  streamSeq: message.seq,
  receipt: message,
  trace: traceHeaders(message.headers),
});
