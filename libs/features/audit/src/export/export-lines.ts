import {
  BYTE_ORDER_MARK,
  cefLine,
  CSV_LINE_END,
  csvHeader,
  csvRow,
  eventJson,
  ocsfEvent,
  shownEvent,
  type EventFacts,
  type StoredText,
} from '@svc/audit-formats';
import type { AuditExportFormat } from '@svc/contract';

/** How an export is written. Every text includes its line end. */
export interface ExportWriter {
  extension: string;
  begin(manifest: object): string;
  event(stored: StoredText, facts: EventFacts): string;
  /** The last line: a footer, or an error. */
  end(type: 'footer' | 'error', fields: object): string;
}

export interface WriterOptions {
  controls(facts: EventFacts): readonly string[];
  /** Of the product. */
  version: string;
  isExcel: boolean;
}

/** JSON lines whose `type` is `manifest`, `event`, `footer` or `error`. */
function jsonWriter({ controls }: WriterOptions): ExportWriter {
  const texts = new Map<readonly string[], string>();
  // The lists are few and shared, so each is written once.
  const controlsText = (facts: EventFacts): string => {
    const list = controls(facts);
    const known = texts.get(list);
    if (known !== undefined) return known;
    const text = `,"soc2_controls":${JSON.stringify(list)}`;
    if (texts.size > 1_000) texts.clear();
    texts.set(list, text);
    return text;
  };
  return {
    extension: 'ndjson',
    begin: (manifest) => line('manifest', manifest),
    event: (stored, facts) => `{"type":"event",${eventJson(stored, controlsText(facts)).slice(1)}\n`,
    end: line,
  };
}

const line = (type: string, fields: object): string => `${JSON.stringify({ type, ...fields })}\n`;

/** Lines with `#` are comments. */
const comment = (name: string, fields: object, lineEnd: string): string =>
  `# svc-${name}: ${JSON.stringify(fields)}${lineEnd}`;

const csvWriter = ({ controls, isExcel }: WriterOptions): ExportWriter => ({
  extension: 'csv',
  begin: (manifest) =>
    `${isExcel ? BYTE_ORDER_MARK : ''}${comment('manifest', manifest, CSV_LINE_END)}${csvHeader}${CSV_LINE_END}`,
  event: (stored, facts) => `${csvRow(shownEvent(stored), controls(facts))}${CSV_LINE_END}`,
  end: (type, fields) => comment(type, fields, CSV_LINE_END),
});

const cefWriter = ({ version }: WriterOptions): ExportWriter => ({
  extension: 'cef',
  begin: (manifest) => comment('manifest', manifest, '\n'),
  event: (stored) => `${cefLine(shownEvent(stored), version)}\n`,
  end: (type, fields) => comment(type, fields, '\n'),
});

const ocsfWriter = ({ version }: WriterOptions): ExportWriter => ({
  extension: 'ocsf.ndjson',
  begin: (manifest) => line('manifest', manifest),
  event: (stored) => `${JSON.stringify(ocsfEvent(shownEvent(stored), version))}\n`,
  end: line,
});

const writers: Readonly<Record<AuditExportFormat, (options: WriterOptions) => ExportWriter>> = {
  json: jsonWriter,
  csv: csvWriter,
  cef: cefWriter,
  ocsf: ocsfWriter,
};

export const openWriter = (format: AuditExportFormat, options: WriterOptions): ExportWriter => writers[format](options);
