import { queues } from '@svc/queues.config';
import type { JobDetail, OutputSafetyView } from '@svc/contract';
import type { DeadLetter } from '@svc/store';
import { boardPath } from './board';
import { html, type Html } from './html';
import type { JobFacts } from './job-facts';
import type { Page } from './page';

/** All data of a job, for operators. Every value may be untrusted input. */
export const jobPage = ({ id, job, letter }: JobFacts, viewer: NonNullable<Page['viewer']>): Page => ({
  title: `Job ${id}`,
  viewer,
  body: html`<main>
<h1>${job?.detail.topic ?? letter?.topic ?? 'Job'}</h1>
<p>${stateBadge(job?.detail.state)} <code>${id}</code></p>
${renderLinks(id, job)}
${job ? html`${renderQueue(job)}${renderFailure(job.detail)}` : html`<section class="notice">
<p>The record of this job has expired; only its dead letter remains.</p></section>`}
${job && renderFields(job.detail)}
${letter && renderDeadLetter(letter)}
${job && renderHistory(job.history)}
${job && renderDecisions(job.decisions)}
${job && renderApproval(job.detail)}
${job?.detail.output_safety && renderOutput(job.detail.output_safety)}
${job && section('Labels', facts(job.detail.labels))}
${job && renderDocument('Input', job.detail.context)}
${job && renderDocument('Result', job.detail.result)}
</main>`,
}); // prettier-ignore

type Job = NonNullable<JobFacts['job']>;

const goodStates = ['SUCCEEDED', 'RUNNING', 'DISPATCHED'];
const badStates = ['FAILED', 'DENIED', 'TIMEOUT', 'OUTPUT_QUARANTINED'];

function stateBadge(state: string | undefined): Html | undefined {
  if (state === undefined) return undefined;
  const kind = goodStates.includes(state) ? 'good' : badStates.includes(state) ? 'bad' : '';
  return html`<span class="state ${kind}">${state}</span>`;
}

function renderLinks(id: string, job: Job | undefined): Html {
  const api = `/api/v1/jobs/${encodeURIComponent(id)}`;
  const trace = job?.detail.trace_id;
  const links: [string, string][] = [
    ...(job
      ? ([
          ['Job as JSON', api],
          ['Decisions as JSON', `${api}/decisions`],
        ] as [string, string][])
      : []),
    ...(trace ? ([['Trace as JSON', `/api/v1/traces/${encodeURIComponent(trace)}`]] as [string, string][]) : []),
    ['API documentation', '/swagger/'],
  ];
  return html`<ul class="links">
    ${links.map(([text, href]) => html`<li><a href="${href}">${text}</a></li>`)}
  </ul>`;
}

/** The queue of the job and its waiting reason. */
function renderQueue({ detail, place }: Job): Html | undefined {
  const queue = Object.entries(queues).find(([key]) => key === place.parked)?.[1];
  const reason = detail.waiting_reason;
  if (!queue && !reason) return undefined;
  return html`<section class="notice">
${queue && html`<p><a href="${boardPath}/queue/${encodeURIComponent(queue.name)}">${queue.title}</a>: ${queue.purpose}</p>`}
${reason && html`<p>Waiting reason: <strong>${reason}</strong>${place.waiting_since !== undefined && html`, since ${time(place.waiting_since)}`}</p>`}
</section>`; // prettier-ignore
}

const renderFailure = ({ error_code, error_message, last_state }: JobDetail): Html | undefined =>
  error_code || error_message
    ? html`<section class="notice bad"><p><strong>${error_code}</strong> ${error_message}</p>
${last_state && html`<p class="soft">Previous state: ${last_state}.</p>`}</section>`
    : undefined; // prettier-ignore

const renderFields = (detail: JobDetail): Html | undefined =>
  section(
    'Job',
    facts({
      tenant: detail.tenant,
      priority: detail.priority,
      attempts: detail.attempts,
      worker: detail.worker_id,
      pool: detail.pool,
      progress: formatProgress(detail),
      created: micros(detail.created_at),
      'last move': micros(detail.updated_at),
      started: micros(detail.started_at),
      completed: micros(detail.completed_at),
      deadline: micros(detail.deadline_unix),
      'run time': detail.execution_ms === undefined ? undefined : `${detail.execution_ms} ms`,
      actor: [detail.actor_id, detail.actor_type].filter(Boolean).join(', '),
      capability: detail.capability,
      'risk tags': detail.risk_tags?.join(', '),
      requires: detail.requires?.join(', '),
      'parent job': detail.parent_job_id,
      trace: detail.trace_id,
      'result pointer': detail.result_ptr,
    }),
  );

const formatProgress = ({ progress_percent, progress_message }: JobDetail): string | undefined =>
  progress_percent === undefined ? progress_message : `${progress_percent} % ${progress_message ?? ''}`;

const renderHistory = (history: Job['history']): Html | undefined =>
  table('History', ['When', 'Move', 'From', 'To'], history.map(({ at, event, from, to }) => [time(at), event, from, to])); // prettier-ignore

const renderDecisions = (decisions: Job['decisions']): Html | undefined =>
  table(
    'Policy decisions',
    ['When', 'Decision', 'Reason', 'Rule', 'By', 'Policy'],
    decisions.map(({ checked_at, decision, reason, rule_id, source, policy_snapshot }) => [
      micros(checked_at),
      decision,
      reason,
      rule_id,
      source,
      policy_snapshot,
    ]),
  );

const renderDeadLetter = ({
  status,
  reason,
  reason_code,
  last_state,
  attempts,
  created_at,
}: DeadLetter): Html | undefined =>
  section(
    'Dead letter',
    html`${facts({ status, code: reason_code, reason, 'state before': last_state, attempts, written: created_at })}
      <p class="below soft">
        POST /api/v1/dlq/{job_id}/retry runs it again as a new job, decided afresh by policy; POST
        /api/v1/dlq/{job_id}/release makes a quarantined output readable as it is; DELETE /api/v1/dlq/{job_id} ends the
        matter.
      </p>`,
  );

const renderApproval = (detail: JobDetail): Html | undefined =>
  section(
    'Approval',
    facts({
      status: detail.approval_status,
      decision: detail.approval_decision,
      by: detail.approval_by,
      role: detail.approval_role,
      at: micros(detail.approval_at),
      reason: detail.approval_reason,
      note: detail.approval_note,
    }),
  );

function renderOutput({ findings, ...safety }: OutputSafetyView): Html {
  const { decision, reason, rule_id, phase, checked_at, skipped, truncated, original_ptr, redacted_ptr } = safety;
  const columns = ['type', 'severity', 'scanner', 'detail', 'confidence'];
  return html`${section('Output safety', facts({
    decision,
    reason,
    rule: rule_id,
    phase,
    checked: micros(checked_at),
    'not checked': skipped && 'the check failed, and the result was released unchecked',
    'checked in part': truncated && 'the result exceeds the scanned length',
    'original at': original_ptr,
    'redacted at': redacted_ptr,
    released: micros(safety.released_at),
    'released by': safety.released_by,
    'released because': safety.release_reason,
    confirmed: micros(safety.confirmed_at),
    'confirmed by': safety.confirmed_by,
  }))}${table('Findings', columns, findings.map((finding) => columns.map((column) => finding[column])))}`; // prettier-ignore
}

/** Maximum characters of a document that the page shows; the API returns all of it. */
const documentChars = 20_000;

function renderDocument(title: string, value: unknown): Html | undefined {
  if (value === null || value === undefined) return undefined;
  const text = JSON.stringify(value, null, 2);
  const more = text.length > documentChars;
  return section(title, html`<pre tabindex="0">${text.slice(0, documentChars)}</pre>
${more && html`<p class="soft">The first ${documentChars} of ${text.length} characters.</p>`}`); // prettier-ignore
}

const section = (title: string, body: Html | undefined): Html | undefined =>
  body &&
  html`<section>
    <h2>${title}</h2>
    ${body}
  </section>`;

/** A list of names and values; undefined if no value is set. */
function facts(named: Readonly<Record<string, unknown>>): Html | undefined {
  const set = Object.entries(named).filter(([, value]) => value !== undefined && value !== '' && value !== false);
  return set.length === 0
    ? undefined
    : html`<dl>
        ${set.map(
          ([name, value]) =>
            html`<dt>${name}</dt>
              <dd>${value}</dd>`,
        )}
      </dl>`;
}

/** Undefined without rows. */
const table = (title: string, columns: readonly string[], rows: readonly (readonly unknown[])[]): Html | undefined =>
  rows.length === 0
    ? undefined
    : section(title, html`<div class="scroll"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
</table></div>`); // prettier-ignore

const iso = (us: number): string => new Date(us / 1_000).toISOString();
const time = (us: number): Html =>
  html`<time datetime="${iso(us)}">${iso(us).replace('T', ' ').replace('Z', ' UTC')}</time>`;
const micros = (us: number | undefined): Html | undefined => (us === undefined || us === 0 ? undefined : time(us));
