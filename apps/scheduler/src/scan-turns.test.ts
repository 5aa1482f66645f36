import type { Kernel } from '@svc/kernel-client';
import { ScanRunner } from '@svc/output-safety';
import { eventually } from '@svc/testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();

const policy = `
version: '1'
default_decision: allow
output_policy: { enabled: true, fail_mode: closed }
output_rules:
  - { id: the-rule, severity: critical, match: { scanners: [secret] }, decision: quarantine, reason: because }
`;
const count = 40;

it('scans of a tenant of weight 9 take nine turns for one of another tenant', async () => {
  await use.orgConfig('acme', { scheduler: { weight: 9 } });
  const { ctx } = await use.start({ policy });
  const held: Parameters<typeof ctx.scanSoon>[] = [];
  Object.assign(ctx, { scanSoon: (...scan: Parameters<typeof ctx.scanSoon>) => void held.push(scan) });
  await use.worker({ id: 'w1', concurrency: 16, topics: { 'job.>': () => 'clean '.repeat(12_000) } });
  const submit = (tenant: string) => Promise.all(Array.from({ length: count }, () => use.submit({}, tenant)));
  const ids = [...(await submit('globex')), ...(await submit('acme'))];
  for (const id of ids) await use.until(id, 'SUCCEEDED');
  await eventually(() => expect(held).toHaveLength(ids.length));

  // Every slot for scans is taken until all results wait.
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const scanned: string[] = [];
  const checkOutput: Kernel['checkOutput'] = async (request) => {
    await opened;
    if (request.output_content) scanned.push(request.tenant ?? '');
    return ctx.kernel.checkOutput(request);
  };
  const runner = new ScanRunner({ ...ctx, kernel: { ...ctx.kernel, checkOutput } });
  const of = (tenant: string) => held.filter(([job]) => job.tenant === tenant);
  for (const scan of [...of('globex'), ...of('acme')]) runner.soon(...scan);
  open();

  for (const id of ids) {
    await eventually(async () => expect((await use.job(id)).output_safety).toMatchObject({ phase: 'async' }));
  }
  // The first eight took the free slots; with equal shares, at most half of the others would be of one tenant.
  expect(scanned.slice(8, 8 + count).filter((tenant) => tenant === 'acme').length).toBeGreaterThan(26);
});
