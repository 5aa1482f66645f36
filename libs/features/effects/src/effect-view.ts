import type { EffectView } from '@svc/contract';
import type { EffectRecord } from '@svc/store';

/** An effect as readers see it. */
export function toEffectView({ tenant: _, scope: __, dispatch_id: ___, result, ...fields }: EffectRecord): EffectView {
  return { ...fields, ...(result !== undefined && { result: JSON.parse(result) as unknown }) };
}
