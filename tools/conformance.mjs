/** `npm run conformance`: sets up, then checks a worker. `npm run conformance -- --help` lists the options. */
import { orExplain, setUp } from './setup.mjs';

await orExplain(() => setUp({ servers: true }));
// Only now are there packages to load it with.
const { runTs } = await import('./run-ts.mjs');
await runTs('tools/conformance/main.ts', process.argv.slice(2));
