/** Reads the first bytes of messages on the wire: RESP of Redis, the text protocol of NATS, and HTTP. */

/** Commands that can make Redis push to another connection; functions and scripts publish and add to queues. */
const pushing = ['fcall', 'evalsha', 'eval', 'publish', 'zadd', 'xadd', 'lpush', 'rpush'];

/** Whether the next message on the connection is a push, which other processes cause. */
export const isBlocking = (command: string): boolean => command === 'bzpopmin' || command === 'subscribe';

/** Whether a message can make Redis push to another connection. */
export const canPush = (text: string): boolean =>
  commands(text).some((command) => pushing.includes(command.split(' ')[0] ?? ''));

/** The last command of a message to Redis. */
export const lastCommand = (text: string): string => commands(text).at(-1) ?? '';

/** Subjects of the NATS messages in a read or write, and the inbox that each asks its reply to. */
export const natsMessages = (text: string): { subject: string; inbox: string | undefined }[] =>
  [...text.matchAll(/^H?(?:PUB|MSG) (\S+)(?: (_INBOX\.\S+))?/gm)].map(([, subject = '', inbox]) => ({
    subject,
    inbox,
  }));

const id = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** A name without ids: the commands, the key or channel of a push, or the request line. */
export function describe(peer: string, text: string): string {
  if (peer === 'client') return text.startsWith('HTTP/') ? 'response' : text.replace(id, ':id').replace(/\?.*$/s, '');
  const sent = commands(text);
  if (sent.length > 0 && !/^\*\d+\r\n\$\d+\r\n\{/.test(text)) return sent.join(', ');
  // A push: `[key, member, score]` of a blocking read, or `[message, channel, payload]`.
  const parts = [...text.matchAll(/\$\d+\r\n([^\r\n]*)\r\n/g)].map(([, part = '']) => part);
  return (text.startsWith('>') ? parts[1] : parts[0])?.replace(/^\{[^}]*\}:/, '') ?? 'push';
}

/** Commands of a message; a call of our library has the names of its scripts. */
function commands(text: string): string[] {
  return readArrays(text).flatMap(([name = '', ...args]) => {
    const command = name.toLowerCase();
    if (command !== 'fcall') return [command];
    const names: string[] = [];
    // Library, number of keys, keys; then for each call its name, the number of its keys and arguments, its arguments.
    let at = 2 + Number(args[1]);
    while (args[at] !== undefined) {
      names.push(args[at] ?? '');
      at += 3 + Number(args[at + 2]);
    }
    return [`${command} ${names.join(' ')}`];
  });
}

/** Arrays of bulk strings, as clients send commands; ends where the text was cut. */
function readArrays(text: string): string[][] {
  const arrays: string[][] = [];
  let at = 0;
  const readLine = (prefix: string): number | undefined => {
    const end = text.indexOf('\r\n', at);
    if (text[at] !== prefix || end < 0) return undefined;
    const value = Number(text.slice(at + 1, end));
    at = end + 2;
    return value;
  };
  for (let count = readLine('*'); count !== undefined; count = readLine('*')) {
    const array: string[] = [];
    for (let i = 0; i < count; i++) {
      const length = readLine('$');
      if (length === undefined) break;
      array.push(text.slice(at, at + length));
      at += length + 2;
    }
    arrays.push(array);
  }
  return arrays;
}
