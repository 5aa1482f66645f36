/** `npm run bench`: sets up, then measures. `npm run bench -- --help` lists the options. */
import { orExplain, setUp } from './setup.mjs';

await orExplain(setUp);
// Only now are there packages to load it with.
const { runTs } = await import('./run-ts.mjs');
await runTs('tools/bench/main.ts', process.argv.slice(2));
