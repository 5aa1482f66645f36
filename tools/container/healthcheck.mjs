/** HEALTHCHECK of the image: exit 0 while the service named by APP answers /readyz with 200. */
const probes = {
  api: ['GATEWAY_METRICS_ADDR', ':9092'],
  scheduler: ['SCHEDULER_METRICS_ADDR', ':9090'],
  engine: ['WORKFLOW_ENGINE_HTTP_ADDR', ':9093'],
  kernel: ['SAFETY_KERNEL_ADMIN_ADDR', ':9095'],
};

const [variable, standard] = probes[process.env.APP] ?? probes.api;
const port = (process.env[variable] || standard).split(':').at(-1);
const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(4_000) }).catch(String);
if (answer.status !== 200) {
  console.error(`/readyz: ${answer.status ?? answer}`);
  process.exit(1);
}
