/** `npm run new`: writes the skeleton of a feature, an endpoint or a queue. `npm run new -- --help` lists the arguments. */
import { runTs } from './run-ts.mjs';

await runTs('tools/new/run.ts', process.argv.slice(2));
