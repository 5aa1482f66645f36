/** `npm run doctor`: finds what is misconfigured, with the environment of the services. `npm run doctor -- --json` prints JSON. */
import { orExplain, setUp } from './setup.mjs';

await orExplain(setUp);
// Only now are there packages to load it with.
const { runTs } = await import('./run-ts.mjs');
await runTs('tools/doctor/main.ts', process.argv.slice(2));
