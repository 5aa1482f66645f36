export {
  metrics,
  metricsTable,
  type Counter,
  type Gauge,
  type Handles,
  type Histogram,
  type Metric,
  type Metrics,
} from './declare';
export { auditMetrics } from './audit';
export { engineMetrics } from './engine';
export { gatewayMetrics } from './gateway';
export { kernelMetrics } from './kernel';
export { otherLabel, topicLabel, type BoundedLabel } from './labels';
export { openMetrics, type OpenMetrics } from './open';
export { schedulerMetrics } from './scheduler';
export { approvalMetrics, commonMetrics, dispatchMetrics } from './shared';
