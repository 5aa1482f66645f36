/** How far a client has read: entries of the record (transitions, timeline), and of the log of worker reports. */
export interface Position {
  record: number;
  log: number;
}

/** The id of an event. */
export const positionText = ({ record, log }: Position): string => `${record}-${log}`;

/** The position of a Last-Event-ID; the start for text that is not one. */
export function parsePosition(text: string | undefined): Position {
  const [, record, log] = /^(\d{1,9})-(\d{1,9})$/.exec(text ?? '') ?? [];
  return { record: Number(record ?? 0), log: Number(log ?? 0) };
}
