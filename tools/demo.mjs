/** `npm run demo`: sets up, then runs the main job from end to end. `npm run demo -- --help` lists the options. */
import { orExplain, setUp } from './setup.mjs';

await orExplain(setUp);
// Only now are there packages to load it with.
const { runTs } = await import('./run-ts.mjs');
await runTs('tools/demo/main.ts', process.argv.slice(2));
