import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
/** Programs that could not be installed into the system. `libs/kits/testing` and the stack look here as well. */
export const toolsDir = join(root, '.svc/tools');
export const privateBin = join(toolsDir, 'bin');
