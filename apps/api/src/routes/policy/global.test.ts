import { bundleSignatureFault, type BundleRecord } from '@svc/policy';
import { eventually } from '@svc/testing';
import { useApi, type Api } from '../../api.testing';
import { bundleKeys } from '../../bundle-keys.testing';
import { statusAndCode } from '../../caller.testing';
import { ban, bundleCalls } from './policy.testing';

interface View {
  snapshot_version: string;
  sections: Record<string, { bundle_id: string; content: string; enabled: boolean; sha256: string }>;
}

function globalPolicy(api: Api) {
  const path = '/api/v1/policy/global';
  return {
    read: async () => (await api.as('admin').get(path)).body as unknown as View & Record<string, unknown>,
    write: (body: object, as = api.as('admin')) => as.put(path, body),
  };
}
const stale = { status: 409, code: 'POLICY_VERSION_CONFLICT' };
const a = { content: ban('a', 'job.a') };
const b = { content: ban('b', 'job.b') };
const largeOutput = {
  job_id: 'j', tenant: 'acme', labels: {}, result_ptr: '', artifact_ptrs: [], error_message: '', error_code: '',
  worker_id: 'w', execution_ms: 1, output_size_bytes: 11 * 1_024 * 1_024, capabilities: [], risk_tags: [], principal_id: '', pack_id: '',
}; // prettier-ignore

describe('the global policy', () => {
  const api = useApi();
  const { read, write } = globalPolicy(api);
  const { get, put, submit, list } = bundleCalls(api);

  it('200: has five sections, empty until they are written', async () => {
    const view = await read();

    expect(Object.entries(view.sections).map(([name, section]) => [name, section.bundle_id, section.content])).toEqual([
      ['input_rules', 'secops/global-input', ''],
      ['output_rules', 'secops/global-output', ''],
      ['edge_action_rules', 'secops/global-edge-action', ''],
      ['mcp_tool_rules', 'secops/global-mcp-tool', ''],
      ['invariants', 'secops/invariants', ''],
    ]);
    expect(view).toMatchObject({ snapshot_hash: view.snapshot_version, updated_at: null });
  });

  it('200: sections change atomically, are signed and take effect; others are unchanged', async () => {
    await write({ sections: { input_rules: a, mcp_tool_rules: b } });

    const { status, body } = await write({
      sections: { invariants: { content: ban('no-echo', 'job.demo.echo') }, input_rules: { ...b, enabled: false } },
      message: 'lockdown',
    });

    expect({ status, body }).toEqual({ status: 200, body: await read() });
    expect(body).toMatchObject({
      sections: {
        input_rules: { ...b, enabled: false },
        mcp_tool_rules: { ...b, enabled: true },
        output_rules: { content: '', enabled: false },
      },
    });
    await eventually(async () => expect((await submit('job.demo.echo')).status).toBe(403));
    const record = (await get('secops~invariants')).body as unknown as BundleRecord;
    expect(bundleSignatureFault(record, new Map([['TESTS', bundleKeys.publicKey]]))).toBeUndefined();
    expect((await api.as('admin').get('/api/v1/policy/audit')).body['items']).toMatchObject([
      {
        action: 'edit',
        resource_id: 'global',
        bundle_ids: ['secops/global-input', 'secops/invariants'],
        message: 'lockdown',
      },
      { bundle_ids: ['secops/global-input', 'secops/global-mcp-tool'] },
    ]);
  });

  it('200: empty content removes the section; enabled is unchanged when omitted', async () => {
    await write({ sections: { input_rules: a, output_rules: { ...b, enabled: false } } });

    await write({ sections: { input_rules: { content: '' }, output_rules: a } });

    expect((await read()).sections).toMatchObject({
      input_rules: { content: '' },
      output_rules: { ...a, enabled: false },
    });
    expect((await list()).body['items']).toMatchObject([{ id: 'secops/global-output' }]);
  });

  it('200: a removal returns the stored state, with the version for the next write', async () => {
    await write({ sections: { input_rules: a, output_rules: b } });

    const removed = await write({ sections: { input_rules: { content: '' } } });

    expect(removed).toMatchObject({
      status: 200,
      body: { sections: { input_rules: { content: '' }, output_rules: b } },
    });
    expect(removed.body).toEqual(await read());
    const { snapshot_version } = removed.body;
    expect((await write({ snapshot_version, sections: { input_rules: b } })).status).toBe(200);
  });

  it('200: topic overrides are in effect even if the policy file has an output policy', async () => {
    const check = async (topic: string) => (await api.kernel.checkOutput({ ...largeOutput, topic })).decision;
    expect(await check('job.demo.echo')).toBe('QUARANTINE');

    const content = 'output_policy:\n  topic_overrides: [{topic_pattern: job.demo.echo, enabled: false}]\n';
    expect((await write({ sections: { output_rules: { content } } })).status).toBe(200);

    await eventually(async () => expect(await check('job.demo.echo')).toBe('ALLOW'));
    expect(await check('job.demo.other')).toBe('QUARANTINE');
  });

  it('409 POLICY_VERSION_CONFLICT: any section changed since it was read; other bundles are ignored', async () => {
    const { snapshot_version } = await read();
    await put('secops~other', a);
    expect((await write({ snapshot_version, sections: { input_rules: a } })).status).toBe(200);

    expect(statusAndCode(await write({ snapshot_version, sections: { output_rules: b } }))).toEqual(stale);

    const now = (await read()).snapshot_version;
    await put('secops~global-input', { ...a, enabled: false });
    expect(statusAndCode(await write({ snapshot_version: now, sections: { output_rules: b } }))).toEqual(stale);
    expect((await read()).sections['output_rules']?.content).toBe('');
  });

  it('409 POLICY_VERSION_CONFLICT: of concurrent writes, one succeeds with all of its sections', async () => {
    const { snapshot_version } = await read();
    const of = (i: number) => ({ content: ban(`w${i}`, `job.w${i}`) });

    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        write({ snapshot_version, sections: { input_rules: of(i), output_rules: of(i) } }),
      ),
    );

    const won = answers.flatMap(({ status }, i) => (status === 200 ? [i] : []));
    expect(won).toHaveLength(1);
    expect((await read()).sections).toMatchObject({ input_rules: of(won[0] ?? -1), output_rules: of(won[0] ?? -1) });
  });

  it('400: one invalid section rejects the whole write; an unknown section', async () => {
    const answer = await write({ sections: { input_rules: a, output_rules: { content: 'rules:\n  - {id: x}' } } });

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'POLICY_VALIDATION_FAILED' });
    expect(answer.body['violations']).toMatchObject([{ field: 'sections.output_rules.content', line: 2 }]);
    expect((await write({ sections: { colour_rules: a } })).status).toBe(400);
    expect((await list()).body['items']).toEqual([]);
  });

  it('403: admins of other tenants; more bundles than the plan allows', async () => {
    expect(statusAndCode(await write({ sections: { input_rules: a } }, api.as('other')))).toEqual({
      status: 403,
      code: 'tenant_access_denied',
    });
    api.license('enterprise', { max_policy_bundles: 1 });
    expect(statusAndCode(await write({ sections: { input_rules: a, output_rules: b } }))).toEqual({
      status: 403,
      code: 'tier_limit_exceeded',
    });
    expect((await list()).body['items']).toEqual([]);
  });
});

describe('a gateway without a key to sign with', () => {
  const api = useApi({ env: { SVC_POLICY_SIGNING_KEY: '' } });

  it('503 POLICY_SIGNING_REQUIRED', async () => {
    const answer = await globalPolicy(api).write({ sections: { input_rules: a } });

    expect(statusAndCode(answer)).toEqual({ status: 503, code: 'POLICY_SIGNING_REQUIRED' });
  });
});
