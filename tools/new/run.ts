import { join } from 'node:path';
import { generate } from './main';

process.exitCode = generate(join(__dirname, '../..'), process.argv.slice(2), (text) => process.stdout.write(text));
