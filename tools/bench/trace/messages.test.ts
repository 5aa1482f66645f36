import { commonChain, sequentialMessages, type TraceEvent } from './messages';

const job = '371abe41-bc64-41c2-8cb6-6e2efb56015a';
const resp = (...parts: string[]) =>
  `*${parts.length}\r\n${parts.map((part) => `$${part.length}\r\n${part}\r\n`).join('')}`;

/** Events in order: process, direction, connection and text. */
const trace = (...rows: [string, '>' | '<', string, string][]): TraceEvent[] =>
  rows.map(([process, arrow, connection, text], i) => ({
    atUs: i,
    process,
    kind: arrow === '>' ? 'sent' : 'received',
    peer: connection.split(' ')[0] ?? '',
    connection: `${process} ${connection}`,
    text,
  }));

const start = ['api', '<', 'client', 'POST /api/v1/jobs'] as const;
const get = ['api', '<', 'client', `GET /api/v1/jobs/${job}?wait_ms=1`] as const;
const answer = ['api', '>', 'client', 'HTTP/1.1 200 OK\r\n'] as const;
const accept = ['api', '>', 'redis', resp('FCALL', 'lib', '1', 'key', 'accept', '1', '1', job)] as const;
const ending = ['api', '<', 'redis sub', `>3\r\n$7\r\nmessage\r\n$12\r\n{s0}:endings\r\n$36\r\n${job}\r\n`] as const;
const subscription = ['api', '>', 'redis sub', resp('subscribe', '{s0}:endings')] as const;

describe('sequentialMessages', () => {
  it('follows a reply to its request and a response to the request before it', () => {
    const [chain] = sequentialMessages(trace([...start], [...accept], ['api', '<', 'redis', '+OK\r\n'], [...answer]));

    expect(chain).toEqual([
      'client → api: POST /api/v1/jobs',
      'api → redis: fcall accept',
      'redis → api: reply',
      'api → client: response',
    ]);
  });

  it('counts messages in parallel once', () => {
    const [chain] = sequentialMessages(
      trace(
        [...start],
        [...accept],
        ['api', '>', 'redis b', resp('GET', job)],
        ['api', '<', 'redis b', '_\r\n'],
        ['api', '<', 'redis', '+OK\r\n'],
        [...answer],
      ),
    );

    expect(chain).toHaveLength(4);
  });

  it('follows a push to the write before it, not to a read, and a NATS message to its subject', () => {
    const result = 'PUB sys.job.result _INBOX.a.1 2\r\nhi\r\n';
    const [chain] = sequentialMessages(
      trace(
        [...subscription],
        ['scheduler', '>', 'redis b', resp('bzpopmin', 'm', '5')],
        [...start],
        [...accept],
        ['api', '<', 'redis', '+OK\r\n'],
        [...answer],
        [...get],
        ['api', '>', 'redis', resp('HGETALL', job)],
        ['scheduler', '<', 'redis b', '*3\r\n$9\r\n{s0}:jobs\r\n$1\r\n0\r\n,0\r\n'],
        ['api', '<', 'redis', '%0\r\n'],
        ['scheduler', '>', 'nats', 'PUB worker.w.jobs _INBOX.b.1 2\r\nhi\r\n'],
        ['worker', '<', 'nats', 'MSG worker.w.jobs 1 2\r\nhi\r\n'],
        ['scheduler', '<', 'nats', 'MSG _INBOX.b.1 1 2\r\nok\r\n'],
        ['worker', '>', 'nats', result],
        ['worker', '<', 'nats', 'MSG _INBOX.a.1 1 2\r\nok\r\n'],
        ['worker', '>', 'nats', 'PUB $JS.ACK.x.1 4\r\n+ACK\r\n'],
        ['scheduler', '<', 'nats', `PING\r\nMSG sys.job.result 1 2\r\nhi\r\n`],
        ['scheduler', '>', 'redis', resp('FCALL', 'lib', '1', 'key', 'move', '1', '1', job)],
        [...ending],
        [...answer],
      ),
    );

    expect(chain).toEqual([
      'client → api: POST /api/v1/jobs',
      'api → redis: fcall accept',
      'redis → scheduler: jobs',
      'scheduler → nats: worker.w.jobs',
      'nats → worker: worker.w.jobs',
      'worker → nats: sys.job.result',
      'nats → scheduler: sys.job.result',
      'scheduler → redis: fcall move',
      'redis → api: endings',
      'api → client: response',
    ]);
  });

  it('leaves out longer chains of messages without the id of the job', () => {
    const [chain] = sequentialMessages(
      trace(
        [...start],
        ['api', '>', 'redis b', resp('HGET', 'settings')],
        ['api', '<', 'redis b', '_\r\n'],
        ['api', '>', 'redis b', resp('HGET', 'revisions')],
        ['api', '<', 'redis b', '_\r\n'],
        [...accept],
        ['api', '<', 'redis', '+OK\r\n'],
        [...answer],
        [...get],
        [...answer],
      ),
    );

    expect(chain?.slice(0, 4)).toEqual([
      'client → api: POST /api/v1/jobs',
      'api → redis: fcall accept',
      'redis → api: reply',
      'api → client: response',
    ]);
  });

  it('leaves out messages of processes that took no part in the trip', () => {
    const [chain] = sequentialMessages(
      trace(
        [...start],
        ['engine', '>', 'redis', resp('HGET', 'revisions')],
        ['engine', '<', 'redis', '_\r\n'],
        [...answer],
      ),
    );

    expect(chain).toEqual(['client → api: POST /api/v1/jobs', 'api → client: response']);
  });

  it('separates trips, whatever the order of the processes', () => {
    const trip = [start, answer].map((row) => [...row]) as [string, '>' | '<', string, string][];

    expect(sequentialMessages(trace(...trip, ...trip).reverse())).toHaveLength(2);
  });

  it('prefers the message of the job among equally deep ones', () => {
    const [chain] = sequentialMessages(
      trace(
        [...start],
        ['api', '>', 'redis b', resp('GET', job)],
        ['api', '>', 'redis c', resp('HGET', 'settings')],
        ['api', '<', 'redis c', '_\r\n'],
        ['api', '<', 'redis b', '_\r\n'],
        [...answer],
        [...get],
        [...answer],
      ),
    );

    expect(chain?.[1]).toBe('api → redis: get');
  });
});

describe('commonChain', () => {
  it('has the length of most trips and at each place the message of most of those', () => {
    const chains = [
      ['a', 'b', 'c'],
      ['a', 'x'],
      ['y', 'b'],
      ['a', 'b'],
    ];

    expect(commonChain(chains)).toEqual(['a', 'b']);
  });

  it('is empty without trips', () => {
    expect(commonChain([])).toEqual([]);
  });
});
