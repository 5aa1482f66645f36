import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
/** Programs installed without root. `libs/kits/testing` and the stack search this folder as well. */
export const toolsDir = join(root, '.svc/tools');
export const privateBin = join(toolsDir, 'bin');
