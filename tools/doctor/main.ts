import { diagnose } from './diagnose';
import { formatFindings } from './finding';

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) {
    console.log(
      'usage: npm run doctor [-- --json]\n\nRuns with the environment of the services. Exit code 1 on errors.',
    );
    return;
  }
  const findings = await diagnose(process.env);
  console.log(args.includes('--json') ? JSON.stringify({ findings }, null, 2) : formatFindings(findings));
  // A connection attempt may still be in progress.
  process.exit(findings.some(({ severity }) => severity === 'error') ? 1 : 0);
}

void main(process.argv.slice(2));
