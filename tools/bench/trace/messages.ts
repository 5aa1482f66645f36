import { canPush, describe, isBlocking, natsMessages, lastCommand } from './wire';

/** One read or write of a socket, as recorder.cjs records it. */
export interface TraceEvent {
  /** Monotonic clock of the machine. */
  atUs: number;
  process: string;
  kind: 'sent' | 'received';
  /** `redis`, `nats`, or the `client` of the HTTP server. */
  peer: string;
  connection: string;
  /** First bytes. Of an HTTP request: method and URL. */
  text: string;
}

/** A message of a round trip, with the longest chain of messages that precedes it. */
interface Message {
  depth: number;
  label: string;
  /** Whether it, or the request that it replies to, contains the job's id; also those of the client. */
  isOfJob: boolean;
  before: Message | undefined;
}

/**
 * The longest chain of messages of each round trip, from its POST to the response of the last GET: a message belongs to
 * the chain when its sender sent it after receiving the one before. Messages in parallel count once. In Redis a reply
 * follows its request, and a push the deepest write before it; in NATS a message follows the deepest one on its subject.
 * Messages that contain the job's id precede others: polls and queue markers that happen to arrive in between do not count.
 *
 * @param events of all processes, in any order between processes
 */
export function sequentialMessages(events: readonly TraceEvent[]): string[][] {
  const sorted = [...events].sort((a, b) => a.atUs - b.atUs);
  const starts = sorted.flatMap((event, i) => (isStart(event) ? [i] : []));
  return starts.map((from, i) => {
    const trip = sorted.slice(from, starts[i + 1]);
    return toLabels(new RoundTrip(findJobId(trip)).walk(trip));
  });
}

const isStart = ({ peer, kind, text }: TraceEvent) =>
  peer === 'client' && kind === 'received' && text.startsWith('POST ');

const findJobId = (trip: readonly TraceEvent[]) =>
  trip.flatMap(({ text }) => /^GET .*\/jobs\/([^?]+)/.exec(text)?.[1] ?? []).at(0) ?? '';

class RoundTrip {
  /** What each process has received: the message that those it sends follow. */
  private readonly received = new Map<string, Message>();
  /** The message that pushes of Redis follow. */
  private lastWrite: Message | undefined;
  /** The message that each NATS subject got; inboxes have the message that asked for a reply there. */
  private readonly published = new Map<string, Message>();
  private readonly lastSent = new Map<string, { text: string; message: Message | undefined }>();
  private last: Message | undefined;

  constructor(private readonly jobId: string) {}

  walk(events: readonly TraceEvent[]): Message | undefined {
    for (const event of events) {
      if (event.kind === 'received') this.receive(event);
      else this.send(event);
    }
    return this.last;
  }

  private send({ process, peer, connection, text }: TraceEvent): void {
    const before = this.received.get(process);
    const message =
      before && follow(before, `${process} → ${peer}: ${this.describeSent(peer, text)}`, this.names(text));
    this.lastSent.set(connection, { text, message });
    // A process that has received no message of the trip sends none.
    if (!message) return;
    if (peer === 'client') this.last = message;
    if (peer === 'redis' && canPush(text)) this.lastWrite = preferred(this.lastWrite, message);
    if (peer !== 'nats') return;
    for (const { subject, inbox } of natsMessages(text)) {
      this.published.set(subject, preferred(this.published.get(subject), message));
      if (inbox) this.published.set(inbox, message);
    }
  }

  private receive({ process, peer, connection, text }: TraceEvent): void {
    const sent = this.lastSent.get(connection);
    const add = (cause: Message | undefined, what: string) => {
      const isOfJob = peer === 'client' || this.names(text) || (what === 'reply' && cause?.isOfJob === true);
      const message = follow(cause, `${peer} → ${process}: ${what}`, isOfJob);
      this.received.set(process, preferred(this.received.get(process), message));
    };
    if (peer === 'nats') {
      for (const { subject } of natsMessages(text)) {
        const cause = this.published.get(subject);
        if (cause) add(cause, subject.startsWith('_INBOX.') ? 'reply' : subject);
      }
    } else if (peer === 'client') {
      // The first one starts the trip; a later one follows the previous response.
      if (sent?.message || this.received.size === 0) add(sent?.message, describe(peer, text));
    } else {
      const isPush = !sent || isBlocking(lastCommand(sent.text)) || text.startsWith('>');
      const cause = isPush ? this.lastWrite : sent.message;
      if (cause) add(cause, isPush ? describe(peer, text) : 'reply');
    }
  }

  private names = (text: string) => text.includes(this.jobId);

  private describeSent(peer: string, text: string): string {
    if (peer !== 'nats') return describe(peer, text);
    const subjects = natsMessages(text).map(({ subject }) => subject.replace(/^\$JS\.ACK\..*/, 'acknowledgement'));
    return subjects.join(', ');
  }
}

const follow = (before: Message | undefined, label: string, isOfJob: boolean): Message => ({
  depth: (before?.depth ?? 0) + 1,
  label,
  isOfJob,
  before,
});

/** The message that a later one follows: one of the job rather than another, then the deepest, then the first. */
function preferred(known: Message | undefined, message: Message): Message {
  if (!known) return message;
  if (message.isOfJob !== known.isOfJob) return message.isOfJob ? message : known;
  return message.depth > known.depth ? message : known;
}

function toLabels(last: Message | undefined): string[] {
  const labels: string[] = [];
  for (let message = last; message; message = message.before) labels.unshift(message.label);
  return labels;
}

/** The most frequent length of the chains, and at each position the most frequent message of chains of that length. */
export function commonChain(chains: readonly (readonly string[])[]): string[] {
  const length = findMode(chains.map((chain) => chain.length)) ?? 0;
  const common = chains.filter((chain) => chain.length === length);
  return Array.from({ length }, (_, i) => findMode(common.map((chain) => chain[i] ?? '')) ?? '');
}

/** The most frequent value; of equally frequent values, the first. */
function findMode<T>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).at(0)?.[0];
}
