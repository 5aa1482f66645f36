import { isRecord } from '@svc/json';
import type { Violation } from '@svc/schema';
import type { SchemaMismatch, TopicDeps } from './topic-deps';

export interface DocumentMismatch {
  code: 'schema_validation_failed' | 'schema_not_found' | 'schema_invalid';
  message: string;
  violations: Violation[];
}

export type Checked = Pick<SchemaMismatch, 'topic' | 'tenant' | 'what' | 'schemaId' | 'schemaOwner' | 'jobId'>;

/** A document to check, or the reason it could not be read. */
export type ReadDocument = { value: unknown } | { fault: string };

/**
 * Checks a document against a registered schema. A mismatch is always reported as an event; it is returned only when
 * enforcement rejects it. Nothing is read when enforcement is off.
 */
export async function checkDocument(
  deps: TopicDeps,
  checked: Checked,
  read: () => Promise<ReadDocument>,
): Promise<DocumentMismatch | undefined> {
  const mode = await deps.enforcement();
  if (mode === 'off') return undefined;
  const mismatch = await findMismatch(deps, checked, read);
  if (!mismatch) return undefined;
  const refused = mode === 'enforce';
  deps.events.schemaMismatch({ ...checked, message: mismatch.message, refused });
  return refused ? mismatch : undefined;
}

async function findMismatch(
  { schemas }: TopicDeps,
  { what, schemaId, schemaOwner = '' }: Checked,
  read: () => Promise<ReadDocument>,
): Promise<DocumentMismatch | undefined> {
  const found = await schemas.find(schemaOwner, schemaId);
  switch (found.kind) {
    case 'missing': {
      const message = `the ${what} schema ${schemaId} is not registered`;
      return { code: 'schema_not_found', message, violations: [{ path: '$', message }] };
    }
    case 'invalid': {
      const message = `the ${what} schema ${schemaId} cannot be used: ${formatViolations(found.violations)}`;
      return { code: 'schema_invalid', message, violations: [{ path: '$', message }] };
    }
    case 'ready': {
      const document = await read();
      const violations =
        'fault' in document ? [{ path: '$', message: document.fault }] : found.schema.check(document.value);
      if (violations.length === 0) return undefined;
      const message = `the ${what} does not match schema ${schemaId}: ${formatViolations(violations)}`;
      return { code: 'schema_validation_failed', message, violations };
    }
  }
}

const shown = 5;

/** Formats the first few violations, for error texts and logs. */
function formatViolations(violations: readonly Violation[]): string {
  const texts = violations.slice(0, shown).map(({ path, message }) => `${path} ${message}`);
  const more = violations.length - shown;
  return [...texts, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/**
 * The part of a document that the input schema applies to: the context of an input document, when it has one.
 * See docs/reference/jobs.md#submit-a-job.
 */
export const getInput = (document: unknown): unknown =>
  isRecord(document) && 'context' in document ? document['context'] : document;
