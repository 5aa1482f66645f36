/** `npm run chaos`: sets up, then runs fault injection. `npm run chaos -- --help` lists the options. */
import { orExplain, setUp } from './setup.mjs';

await orExplain(() => setUp({ servers: true }));
// Only now are there packages to load it with.
const { runTs } = await import('./run-ts.mjs');
await runTs('tools/chaos/main.ts', process.argv.slice(2));
