import { approvalAnalyticsEndpoints } from './approvals-analytics';
import { decisionEndpoints } from './decisions';
import { governanceHealthEndpoints } from './health';
import { insightEndpoints } from './insights';

export const governanceEndpoints = [
  ...decisionEndpoints,
  ...approvalAnalyticsEndpoints,
  ...governanceHealthEndpoints,
  ...insightEndpoints,
] as const;
