import { useEngine } from './use-engine.testing';

describe('a step that names a registered schema', () => {
  const use = useEngine();
  const register = (scope: string, document: Record<string, unknown>) =>
    use.store.schemas.write(scope, { id: 'Crate', document, maxSchemas: 0, nowUs: 1 });
  const steps = { weigh: { type: 'transform', input: { crate: 7 }, output_schema_id: 'Crate' } } as const;

  it.each(['acme', '*'])('is validated against a schema of its tenant or of the installation: %s', async (owner) => {
    await use.start();
    await register(owner, { properties: { crate: { type: 'string' } } });

    const run = await use.ended(await use.submitRun(steps), 'failed');

    expect(run.steps['weigh']?.error?.message).toContain('/crate must be string');
  });

  it('is not validated against a schema of another tenant', async () => {
    await use.start();
    await register('globex', { properties: { crate: { type: 'string' } } });

    const run = await use.ended(await use.submitRun(steps), 'failed');

    expect(run.steps['weigh']?.error?.message).toBe('the output schema Crate is not registered');
  });
});
