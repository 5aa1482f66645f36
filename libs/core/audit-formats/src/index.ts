/** Formats in which audit events leave the product. No I/O. */
export { cefLine } from './cef';
export {
  controlFinder,
  controlLegend,
  readControls,
  soc2Controls,
  type Control,
  type ControlRule,
  type Controls,
} from './controls';
export { BYTE_ORDER_MARK, CSV_LINE_END, csvCell, csvColumns, csvHeader, csvRow } from './csv';
export { datadogBody, splunkBody, syslogFrame, webhookBody, type Origin } from './deliveries';
export {
  eventJson,
  readFacts,
  secretKeys,
  shownEvent,
  type EventFacts,
  type ShownEvent,
  type StoredText,
} from './event-text';
export { ocsfEvent } from './ocsf';
