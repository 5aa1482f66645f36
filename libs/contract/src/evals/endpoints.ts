import { comparisonEndpoints } from './comparisons';
import { datasetEndpoints } from './datasets';
import { extractionEndpoints } from './extraction';
import { evalRunEndpoints } from './runs';

export const evalEndpoints = [
  ...datasetEndpoints,
  ...extractionEndpoints,
  ...evalRunEndpoints,
  ...comparisonEndpoints,
] as const;
