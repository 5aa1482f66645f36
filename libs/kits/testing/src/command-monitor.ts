import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One command that Redis executed, as MONITOR shows it. */
export interface MonitoredCommand {
  /** Address (`host:port`) of the client, or `lua` for a command inside a script. */
  from: string;
  /** In lower case; EVALSHA is followed by the first eight characters of the script's hash. */
  name: string;
}

export interface CommandMonitor {
  /** Closes the monitor; resolves when every command executed before this call has been reported. */
  close(): Promise<void>;
}

/**
 * Reports every command from now on. Uses a plain socket: a client library treats monitor lines that arrive before it has
 * switched to monitor mode as replies to its commands. Slows Redis down, so do not measure time while a monitor is open.
 */
export async function monitorCommands(
  redisUrl: string,
  onCommand: (command: MonitoredCommand) => void,
): Promise<CommandMonitor> {
  const socket = await open(redisUrl);
  const marker = randomUUID();
  let rest = '';
  let confirm: () => void = () => undefined;
  const confirmed = new Promise<void>((resolve) => (confirm = resolve));
  let seeMarker: () => void = () => undefined;
  const markerSeen = new Promise<void>((resolve) => (seeMarker = resolve));
  socket.on('data', (data) => {
    const lines = (rest + data.toString('latin1')).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.includes(marker)) seeMarker();
      else if (line === '+OK') confirm();
      else {
        const command = parseMonitorLine(line);
        if (command) onCommand(command);
      }
    }
  });
  const lost = once(socket, 'close').then(() => Promise.reject(new Error('the monitor lost its connection to Redis')));
  lost.catch(() => undefined); // Awaited below; not an error once the monitor is closed.
  socket.write('MONITOR\r\n');
  await Promise.race([confirmed, lost]);
  return {
    async close() {
      const sender = await open(redisUrl);
      // Redis reports commands in the order of execution.
      sender.write(`ECHO ${marker}\r\n`);
      await Promise.race([markerSeen, lost]);
      sender.destroy();
      socket.destroy();
    },
  };
}

async function open(redisUrl: string): Promise<Socket> {
  const { hostname, port, username, password } = new URL(redisUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  // A close event follows each error.
  socket.on('error', () => undefined);
  if (password) {
    socket.write(`AUTH ${decodeURIComponent(username || 'default')} ${decodeURIComponent(password)}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    if (!answer.toString().startsWith('+OK')) throw new Error(`Redis refused user ${username || 'default'}`);
  }
  return socket;
}

/** Parses a line, which is one command because line breaks in arguments are escaped: `+<time> [<db> <from>] "<command>" "<argument>" ...`. */
export function parseMonitorLine(line: string): MonitoredCommand | undefined {
  const parts = /^\+[\d.]+ \[\d+ ([^\]]+)\] "([^"]+)"(?: "([^"]{0,8}))?/.exec(line);
  if (!parts) return undefined;
  const [, from = '', command = '', argument = ''] = parts;
  const name = command.toLowerCase();
  return { from, name: name === 'evalsha' ? `${name} ${argument}` : name };
}
