/**
 * A service as the supervisor sees one: it serves /readyz on its address, over TLS when it has a certificate, shows its
 * environment at /env, and on SIGTERM writes down which stores still answer. `FAIL_START` makes it end at once.
 */
const { appendFileSync, readFileSync } = require('node:fs');
const http = require('node:http');
const https = require('node:https');
const { connect } = require('node:net');

const { SVC_INSTANCE_ID: name, GATEWAY_HTTP_TLS_CERT: cert, GATEWAY_HTTP_TLS_KEY: key, STOP_LOG } = process.env;
if (process.env.FAIL_START) {
  console.error('the sample cannot start');
  process.exit(1);
}
const isGateway = name === 'api';
const address = isGateway ? process.env.GATEWAY_HTTP_ADDR : process.env.SCHEDULER_METRICS_ADDR;
const answer = (request, response) => response.end(request.url === '/env' ? JSON.stringify(process.env) : 'ok');
const server =
  isGateway && cert
    ? https.createServer({ cert: readFileSync(cert), key: readFileSync(key) }, answer)
    : http.createServer(answer);
server.listen(Number(address.split(':').at(-1)), '127.0.0.1', () => console.log('serving'));

const answers = (url) =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => resolve(true)).on('error', () =>
      resolve(false),
    );
    socket.unref();
  });
process.on('SIGTERM', async () => {
  const stores = await Promise.all([answers(process.env.REDIS_URL), answers(process.env.NATS_URL)]);
  if (STOP_LOG) appendFileSync(STOP_LOG, `${name} ${stores.join(' ')}\n`);
  process.exit(0);
});
