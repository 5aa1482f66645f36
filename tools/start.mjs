/** `npm start`: sets up, then runs the local stack until Ctrl-C. `npm start -- --help` lists the options. */
import { orExplain, setUp } from './setup.mjs';

await orExplain(setUp);
// Only now are there packages to load it with.
const { runTs } = await import('./run-ts.mjs');
await runTs('tools/stack/main.ts', process.argv.slice(2));
