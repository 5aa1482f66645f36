import {
  AppError,
  auditExportFormats,
  auditSeverities,
  getCategory,
  type AuditExportFormat,
  type AuditExportQuery,
  type AuditSeverity,
} from '@svc/contract';
import type { EventFacts } from '@svc/audit-formats';
import { readTime } from '../chain/chain-scope';

/** What is exported, validated. */
export interface ExportRequest {
  format: AuditExportFormat;
  fromMs: number;
  toMs: number;
  /** CSV begins with a byte order mark. */
  isExcel: boolean;
  /** Row filters that were given, by name; without empty ones. */
  rowFilter: Readonly<Partial<Record<'event_type' | 'severity' | 'category' | 'limit', string>>>;
  /** Rows to export at most; undefined = as many as the license permits. */
  limit: number | undefined;
}

const MAX_SPAN_MS = 366 * 86_400_000;
/** Clocks of clients may differ by this much. */
const CLOCK_MARGIN_MS = 120_000;

/**
 * @param oldestMs begin of the time for which events are kept; undefined = for ever
 * @throws audit_from_invalid, audit_to_invalid, audit_range_invalid, audit_limit_invalid, audit_category_invalid,
 *   audit_query_invalid
 */
export function readExportQuery(
  query: AuditExportQuery,
  { nowMs, oldestMs }: { nowMs: number; oldestMs: number | undefined },
): ExportRequest {
  const format = auditExportFormats.find((name) => name === (query.format || 'json').toLowerCase());
  if (!format) throw invalid(`format must be one of ${auditExportFormats.join(', ')}`);
  const { fromMs, toMs } = readWindow(query, nowMs, oldestMs);
  const { event_type = '', category = '', limit = '' } = query;
  const severity = (query.severity ?? '').toUpperCase();
  if (event_type !== '' && !/^[\w.:-]{1,128}$/.test(event_type))
    throw invalid('event_type must be letters, digits, and _ . : -, at most 128');
  if (severity !== '' && !auditSeverities.includes(severity as AuditSeverity))
    throw invalid(`severity must be one of ${auditSeverities.join(', ')}`);
  if (category !== '' && category !== 'governance' && category !== 'routine')
    throw new AppError('audit_category_invalid');
  if (limit !== '' && !/^[1-9]\d{0,8}$/.test(limit)) throw new AppError('audit_limit_invalid');
  return {
    format,
    fromMs,
    toMs,
    isExcel: readFlag(query.excel ?? ''),
    rowFilter: {
      ...(event_type && { event_type }),
      ...(severity && { severity }),
      ...(category && { category }),
      ...(limit && { limit }),
    },
    limit: limit === '' ? undefined : Number(limit),
  };
}

function readWindow(query: AuditExportQuery, nowMs: number, oldestMs: number | undefined) {
  const fromMs = query.from ? readTime(query.from) : undefined;
  const toMs = query.to ? readTime(query.to) : undefined;
  if (fromMs === undefined) throw new AppError('audit_from_invalid', { error: 'from is required and must be a time' });
  if (toMs === undefined) throw new AppError('audit_to_invalid', { error: 'to is required and must be a time' });
  if (fromMs >= toMs) throw range('from must be before to');
  if (toMs - fromMs > MAX_SPAN_MS) throw range('from and to must be at most 366 days apart');
  if (toMs > nowMs + CLOCK_MARGIN_MS) throw range('to must not be in the future');
  if (oldestMs !== undefined && fromMs < oldestMs - CLOCK_MARGIN_MS)
    throw range('from is before the time for which events are kept');
  return { fromMs, toMs };
}

function readFlag(text: string): boolean {
  const value = text.toLowerCase();
  if (value === '' || value === 'false' || value === '0') return false;
  if (value === 'true' || value === '1') return true;
  throw invalid('excel must be true or false');
}

const range = (error: string) => new AppError('audit_range_invalid', { error });
const invalid = (error: string) => new AppError('audit_query_invalid', { error });

/** Whether an event passes the row filters. */
export const rowFits =
  ({ event_type, severity, category }: ExportRequest['rowFilter']) =>
  (facts: EventFacts): boolean =>
    (event_type === undefined || facts.type === event_type) &&
    (severity === undefined || facts.severity === severity) &&
    (category === undefined || getCategory(facts.type) === category);
