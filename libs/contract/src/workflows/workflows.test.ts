import type Joi from 'joi';
import type { Endpoint } from '../endpoint';
import { endpoints } from '../endpoints';
import { readChat, postChatMessage } from './run-chat';
import { sendSignal, startRun, workflowRunEndpoints } from './runs';
import { addSchedule } from './schedules';
import { dryRunWorkflow, putWorkflow, workflowEndpoints } from './workflows';

const own: readonly Endpoint[] = [...workflowEndpoints, ...workflowRunEndpoints];
const toTarget = ({ method, path }: Endpoint) => `${method} ${path.replace(/:\w+/g, ':')}`;
const validate = (schema: Joi.Schema | undefined, value: unknown) => schema?.validate(value, { abortEarly: false });

describe('endpoints of workflows and runs', () => {
  it('are those of the contract, with unique ids and paths', () => {
    const others = (endpoints as readonly Endpoint[]).filter(({ id }) => !own.some((mine) => mine.id === id));

    expect(own.map(toTarget)).toEqual(
      expect.arrayContaining([
        'get /api/v1/workflows', 'post /api/v1/workflows', 'get /api/v1/workflows/:', 'delete /api/v1/workflows/:',
        'get /api/v1/workflows/:/versions', 'post /api/v1/workflows/:/dry-run', 'post /api/v1/workflows/:/runs',
        'get /api/v1/workflows/:/runs', 'post /api/v1/workflows/:/runs/:/cancel', 'get /api/v1/workflow-runs',
        'get /api/v1/workflow-runs/:', 'delete /api/v1/workflow-runs/:', 'get /api/v1/workflow-runs/:/timeline',
        'post /api/v1/workflow-runs/:/rerun', 'get /api/v1/workflow-runs/:/chat', 'post /api/v1/workflow-runs/:/chat',
        'post /api/v1/workflow-runs/:/signals/:', 'get /api/v1/workflow-runs/:/explain',
        'get /api/v1/workflows/:/schedules', 'post /api/v1/workflows/:/schedules',
      ]),
    ); // prettier-ignore
    expect(new Set([...own, ...others].map(toTarget)).size).toBe(own.length + others.length);
    expect(new Set([...own, ...others].map(({ id }) => id)).size).toBe(own.length + others.length);
  });

  it('are read by any caller and written by admins; operators may chat', () => {
    const gate = ({ access }: Endpoint) =>
      access === 'public' ? access : `${access.permission} ${String(access.roles)}`;
    const writers = own.filter(({ method }) => method !== 'get');

    expect(new Set(own.filter(({ method }) => method === 'get').map(gate))).toEqual(new Set(['workflows.read any']));
    expect(writers.filter((e) => gate(e) !== 'workflows.write admin').map(({ id }) => id)).toEqual([
      postChatMessage.id,
    ]);
    expect(gate(postChatMessage)).toBe('workflows.write admin,operator');
  });

  it.each(own)(
    '$id: every parameter is bounded, and another tenant’s record is refused',
    ({ params, path, otherTenant }) => {
      for (const schema of Object.values<Joi.Schema>(params))
        expect(schema.validate('x'.repeat(2_000)).error).toBeDefined();
      expect(otherTenant).toBe(path.includes(':') ? 'tenant_access_denied' : undefined);
    },
  );
});

describe('bodies', () => {
  it('of a start are any object, with a text memory id', () => {
    expect(validate(startRun.body, { crates: [1, { a: null }] })?.value).toEqual({ crates: [1, { a: null }] });
    expect(validate(startRun.body, { memory_id: 5 })?.error?.message).toMatch(/memory_id/);
    expect(validate(startRun.body, [1])?.error).toBeDefined();
  });

  it('of a definition are validated by the definition check, except for unknown fields', () => {
    expect(validate(putWorkflow.body, { steps: { a: 5 }, timeout_sec: 'x' })?.error).toBeUndefined();
    expect(validate(putWorkflow.body, { stpes: {} })?.error?.message).toBe('"stpes" is not allowed');
  });

  it('of a dry run and of a signal may be empty', () => {
    expect(validate(dryRunWorkflow.body, {})?.value).toEqual({ input: {}, environment: '' });
    expect(validate(sendSignal.body, {})?.value).toEqual({ signal_id: '' });
  });

  it('of a schedule have either a cron or an interval', () => {
    const filled = { name: '', time_zone: 'UTC', overlap: 'skip', misfire: 'run_once', input: {}, paused: false };

    expect(validate(addSchedule.body, { cron: '0 6 * * 1-5' })?.value).toEqual({ ...filled, cron: '0 6 * * 1-5' });
    expect(validate(addSchedule.body, {})?.error?.message).toBe('cron or interval_sec is needed');
    expect(validate(addSchedule.body, { cron: '* * * * *', interval_sec: 5 })?.error?.message).toBe(
      'cron and interval_sec: give one',
    );
  });

  it('of a message are trimmed, with the default role user', () => {
    expect(validate(postChatMessage.body, { content: '  hi ' })?.value).toEqual({ content: 'hi', role: 'user' });
    expect(validate(postChatMessage.body, { content: '', role: 'robot' })?.error?.message).toMatch(
      /"role" must be one of/,
    );
  });

  it.each([
    ['12', 12],
    ['0', 0],
    ['x', undefined],
    ['-1', undefined],
  ])('of a chat page: cursor %s is %s', (given, read) => {
    // prettier-ignore
    expect((validate(readChat.query, { cursor: given })?.value as { cursor?: number }).cursor).toBe(read);
  });
});
