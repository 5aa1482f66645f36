import { checkDefinition, type DefinitionDeps } from './check-definition';

/** An example definition, as YAML would read it. */
export const harbourIntake = {
  id: 'harbour-intake',
  org_id: 'acme',
  name: 'Harbour cargo intake',
  timeout_sec: 7_200,
  input_schema: {
    type: 'object',
    required: ['manifest_id', 'crates'],
    properties: {
      manifest_id: { type: 'string' },
      crates: { type: 'array', items: { type: 'object' } },
      rush: { type: 'boolean' },
    },
  },
  steps: {
    weigh: {
      topic: 'job.cargo.weigh',
      for_each: 'input.crates',
      max_parallel: 4,
      input: { manifest: '${input.manifest_id}', crate: '${item}' },
      retry: { max_retries: 2, initial_backoff_sec: 2, max_backoff_sec: 20, multiplier: 2 },
      meta: { capability: 'cargo.weigh', requires: ['scale'], risk_tags: ['physical'] },
    },
    tally: {
      type: 'transform',
      depends_on: ['weigh'],
      input: { crate_count: '${length(input.crates)}', label: 'manifest ${input.manifest_id}' },
      output_path: 'totals',
    },
    lane: {
      type: 'switch',
      depends_on: ['tally'],
      condition: "input.rush == true ? 'fast' : 'normal'",
      input: {
        cases: [
          { match: 'fast', next: 'harbourmaster' },
          { match: 'normal', next: 'settle' },
        ],
        default: 'settle',
      },
    },
    harbourmaster: {
      type: 'approval',
      depends_on: ['lane'],
      input: { question: 'Release ${ctx.totals.crate_count} crates early?', manifest: '${input.manifest_id}' },
      on_error: 'hold_note',
    },
    settle: { type: 'delay', depends_on: ['lane'], delay_sec: 900 },
    stow: {
      topic: 'job.cargo.stow',
      depends_on: ['harbourmaster', 'settle'],
      join: 'any',
      condition: "not (steps.harbourmaster.status in ['failed', 'denied'])",
      timeout_sec: 600,
      input: { totals: '${ctx.totals}' },
      result_data_path: 'bay.number',
      output_schema: { type: 'integer', minimum: 1 },
      compensation: { topic: 'job.cargo.unstow' },
    },
    hold_note: { type: 'notify', input: { level: 'warning', message: 'Early release refused: ${input.manifest_id}' } },
  },
};

/** A workflow of these steps. */
export const workflow = (steps: unknown, rest: object = {}) => ({ id: 'w', org_id: 'acme', name: 'W', steps, ...rest });

/** `path: message` of each fault; nothing when the definition is right. */
export function getFaults(raw: unknown, deps: DefinitionDeps = {}): string[] {
  const checked = checkDefinition(raw, deps);
  return checked.kind === 'ok' ? [] : checked.faults.map(({ path, message }) => `${path}: ${message}`);
}
