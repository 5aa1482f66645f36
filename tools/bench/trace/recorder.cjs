/**
 * Loaded into every process before its program (NODE_OPTIONS=--require). Records each read and write of the sockets to
 * Redis and NATS, and each request and response of the HTTP server, with the time of the machine's monotonic clock, which
 * all processes share. SIGUSR2 writes what was recorded since the previous one to BENCH_TRACE_DIR/<process>.json.
 */
const { subscribe } = require('node:diagnostics_channel');
const { renameSync, writeFileSync } = require('node:fs');
const { Socket } = require('node:net');
const { join } = require('node:path');
const { isMainThread } = require('node:worker_threads');

const name = process.env.SVC_INSTANCE_ID;
const folder = process.env.BENCH_TRACE_DIR;
// Several messages may share a write; larger bodies are not needed.
const maxBytes = 65_536;

if (isMainThread && name && folder) {
  const servers = new Map(
    [process.env.REDIS_URL, process.env.NATS_URL].map((url) => [getPort(url), url.split(':')[0]]),
  );
  const httpSockets = new WeakSet();
  let events = [];

  const add = (socket, kind, peer, text) =>
    events.push({
      atUs: Number(process.hrtime.bigint() / 1_000n),
      process: name,
      kind,
      peer,
      // Unique within the process: local ports of open connections differ.
      connection: `${name}:${socket.localPort}-${socket.remotePort}`,
      text,
    });
  const getPeer = (socket) => (httpSockets.has(socket) ? 'client' : servers.get(socket.remotePort));
  const written = (socket, chunks) => {
    const peer = getPeer(socket);
    if (peer) add(socket, 'sent', peer, cut(Buffer.concat(chunks)));
  };

  const { _write: write, _writev: writev, push } = Socket.prototype;
  Socket.prototype._write = function (chunk, encoding, callback) {
    written(this, [toBytes(chunk, encoding)]);
    return write.call(this, chunk, encoding, callback);
  };
  Socket.prototype._writev = function (chunks, callback) {
    written(
      this,
      chunks.map(({ chunk, encoding }) => toBytes(chunk, encoding)),
    );
    return writev.call(this, chunks, callback);
  };
  Socket.prototype.push = function (chunk, encoding) {
    const peer = chunk && getPeer(this);
    // The HTTP parser reads from the handle, so requests are recorded below.
    if (peer && peer !== 'client') add(this, 'received', peer, cut(toBytes(chunk, encoding)));
    return push.call(this, chunk, encoding);
  };
  subscribe('http.server.request.start', ({ request, socket }) => {
    httpSockets.add(socket);
    add(socket, 'received', 'client', `${request.method} ${request.url}`);
  });

  process.on('SIGUSR2', () => {
    const file = join(folder, `${name}.json`);
    writeFileSync(`${file}.part`, JSON.stringify(events));
    renameSync(`${file}.part`, file);
    events = [];
  });
}

function getPort(url) {
  return Number(new URL(url).port);
}

function toBytes(chunk, encoding) {
  return typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
}

function cut(bytes) {
  return bytes.toString('latin1', 0, maxBytes);
}
