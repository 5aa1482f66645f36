/** `npm run credentials`: store credentials of one worker of the local stack; `--help` lists the options. */
import { runTs } from './run-ts.mjs';

await runTs('tools/credentials/main.ts', process.argv.slice(2));
