import type { Bus, Consumption } from '@svc/bus';
import { LiveChanges, type Change } from '@svc/store';
import type { Redis } from 'ioredis';
import { admitAlert, alertSubjects, type AlertDelivery, type AlertTrust } from './admit-alert';
import { alertEvent, heartbeatEvent, tappedSubjects, toBusEvent } from './bus-events';
import { StreamHub, type EventSource, type HubHooks } from './hub';
import { chatEvent, hidesResult, jobChangeEvents, reportEvent, runChangeEvent } from './job-packets';
import type { StreamEvent } from './stream-event';

export interface HubDeps extends HubHooks {
  redis: Redis;
  /** A connection of its own with automatic resubscription disabled; connects when it is used. */
  listener: Redis;
  bus: Pick<Bus, 'tap' | 'subscribe' | 'flush'>;
  senderId: string;
  trust: AlertTrust;
  /** The pointer of a withheld result was left out of an event. */
  onResultHidden(): void;
  /** An alert was dropped, since its sender proves too little. */
  onAlertRefused(): void;
}

export interface OpenHub {
  hub: StreamHub;
  /** Forwards a heartbeat that the worker trust has admitted. */
  onHeartbeat(this: void, packet: Parameters<typeof heartbeatEvent>[0]): void;
  close(): Promise<void>;
}

/** The hub of a gateway, with the changes in Redis and the subjects of the bus as its source. */
export function openHub(deps: HubDeps): OpenHub {
  const hub = new StreamHub(deps);
  const onChange = (change: Change) => {
    if (change.kind === 'job' && hidesResult(change)) deps.onResultHidden();
    for (const event of toEvents(change, deps.senderId)) hub.publish(event);
  };
  const changes = new LiveChanges(deps.redis, deps.listener, { onChange, onGap: () => hub.reportGap() });
  hub.connect(joinSources(changes, busSource(hub, deps)));
  return {
    hub,
    onHeartbeat(packet) {
      // Only clients with access to all tenants receive heartbeats.
      if (hub.hasAllTenants) hub.publish(heartbeatEvent(packet));
    },
    async close() {
      await hub.close();
      changes.close();
    },
  };
}

function toEvents(change: Change, senderId: string): StreamEvent[] {
  switch (change.kind) {
    case 'job':
      return jobChangeEvents(change, senderId);
    case 'run':
      return [runChangeEvent(change, senderId)];
    case 'report':
      return [reportEvent(change)];
    case 'chat':
      return [chatEvent(change, senderId)];
  }
}

function busSource(hub: StreamHub, { bus, trust, onAlertRefused }: HubDeps): EventSource {
  let taps: Consumption[] = [];
  const onMessage = ({ subject, bytes }: { subject: string; bytes: Uint8Array }) => {
    const event = toBusEvent(subject, bytes);
    if (event) hub.publish(event);
  };
  const onAlert = async (delivery: AlertDelivery & { subject: string }) => {
    const outcome = await admitAlert(trust, delivery.subject, delivery);
    if (outcome === 'shown') hub.publish(alertEvent(delivery.packet));
    if (outcome === 'refused') onAlertRefused();
  };
  // Unreadable alerts are ignored: reporting them would cause others.
  const options = { isReportedElsewhere: true };
  return {
    async start() {
      if (taps.length === 0)
        taps = [
          ...tappedSubjects.map((subject) => bus.tap(subject, onMessage)),
          ...alertSubjects.map((subject) => bus.subscribe(subject, onAlert, options)),
        ];
      await bus.flush();
    },
    async stop() {
      await Promise.all(taps.splice(0).map((tap) => tap.stop()));
    },
  };
}

const joinSources = (...sources: readonly EventSource[]): EventSource => ({
  async start() {
    await Promise.all(sources.map((source) => source.start()));
  },
  async stop() {
    await Promise.all(sources.map((source) => source.stop()));
  },
});
