/** `npm run policy`: tests policies before they are published. `npm run policy -- --help` lists the commands. */
import { orExplain, setUp } from './setup.mjs';

await orExplain(setUp);
// Only now are there packages to load it with.
const { runTs } = await import('./run-ts.mjs');
await runTs('tools/policy/main.ts', process.argv.slice(2));
