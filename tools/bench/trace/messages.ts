import { canPush, describe, isBlocking, natsMessages, requestOf } from './wire';

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
  /** Whether it, or the request that it replies to, contains the job's id. */
  isOfJob: boolean;
  before: Message | undefined;
}

/**
 * The longest chain of messages of each round trip, from its POST to the response of the last GET: a message belongs to
 * the chain when its sender sent it after receiving the one before. Messages in parallel count once. A server forwards or
 * answers: a reply follows its request, and a push follows the deepest write that the server had received.
 *
 * @param events of all processes, in any order between processes
 */
export function sequentialMessages(events: readonly TraceEvent[]): string[][] {
  const sorted = [...events].sort((a, b) => a.atUs - b.atUs);
  const starts = sorted.flatMap((event, i) => (isStart(event) ? [i] : []));
  return starts.map((from, i) => {
    const trip = sorted.slice(from, starts[i + 1]);
    return toLabels(new RoundTrip(jobIdOf(trip)).walk(trip));
  });
}

const isStart = ({ peer, kind, text }: TraceEvent) =>
  peer === 'client' && kind === 'received' && text.startsWith('POST ');

const jobIdOf = (trip: readonly TraceEvent[]) =>
  trip.flatMap(({ text }) => /^GET .*\/jobs\/([^?]+)/.exec(text)?.[1] ?? []).at(0) ?? '';

class RoundTrip {
  /** Deepest message that each process has received. */
  private readonly received = new Map<string, Message>();
  /** Deepest message that Redis has received and that can make it push. */
  private deepestWrite: Message | undefined;
  /** Deepest message on each NATS subject; inboxes have the message that asked for a reply there. */
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
    if (peer === 'redis' && canPush(text)) this.deepestWrite = deeper(this.deepestWrite, message);
    if (peer !== 'nats') return;
    for (const { subject, inbox } of natsMessages(text)) {
      this.published.set(subject, deeper(this.published.get(subject), message));
      if (inbox) this.published.set(inbox, message);
    }
  }

  private receive({ process, peer, connection, text }: TraceEvent): void {
    const sent = this.lastSent.get(connection);
    const add = (cause: Message | undefined, what: string) => {
      const isOfJob = this.names(text) || (what === 'reply' && cause?.isOfJob === true);
      const message = follow(cause, `${peer} → ${process}: ${what}`, isOfJob);
      this.received.set(process, deeper(this.received.get(process), message));
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
      const isPush = !sent || isBlocking(requestOf(sent.text)) || text.startsWith('>');
      const cause = isPush ? this.deepestWrite : sent.message;
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

/** Of equally deep messages, one that belongs to the job. */
function deeper(known: Message | undefined, message: Message): Message {
  if (!known || message.depth > known.depth) return message;
  return message.depth === known.depth && message.isOfJob && !known.isOfJob ? message : known;
}

function toLabels(last: Message | undefined): string[] {
  const labels: string[] = [];
  for (let message = last; message; message = message.before) labels.unshift(message.label);
  return labels;
}

/** The chain that most of the trips have; the first of several. */
export function commonChain(chains: readonly (readonly string[])[]): readonly string[] {
  const counts = new Map<string, { chain: readonly string[]; count: number }>();
  for (const chain of chains) {
    const key = chain.join('\n');
    counts.set(key, { chain, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].reduce((a, b) => (b.count > a.count ? b : a), {
    chain: [] as readonly string[],
    count: 0,
  }).chain;
}
