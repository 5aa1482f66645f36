import { runCli } from './run-cli';

void runCli(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
}).then((code) => {
  process.exitCode = code;
});
