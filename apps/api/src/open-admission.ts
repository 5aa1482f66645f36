import type { ApiEnv, Boot, gatewayMetrics, OpenMetrics } from '@svc/runtime';
import { type Admission, admissionSettings, SnapshotAdmission } from '@svc/admission';
import { startLoops } from '@svc/platform';
import type { LoadRepository } from '@svc/store';

const snapshotEveryMs = 500;

/** Admission control with the limits of the environment and a snapshot of Redis at most half a second old. */
export function openAdmission(
  { env, log, onStop }: Pick<Boot<ApiEnv>, 'env' | 'log' | 'onStop'>,
  load: LoadRepository,
  metrics: OpenMetrics<typeof gatewayMetrics>['metrics'],
): Admission {
  const admission = new SnapshotAdmission(load, admissionSettings(env), (limit) => {
    metrics.admissionRefused.inc({ limit });
    log.oncePer(`admission:${limit}`, 10_000).warn('requests rejected by admission control', { limit });
  });
  const snapshotLoop = { name: 'admission', everyMs: snapshotEveryMs, atStart: true, run: () => admission.refresh() };
  onStop(
    'admission',
    startLoops([snapshotLoop], (loop, error) =>
      log.oncePer(`loop:${loop}`, 10_000).warn('loop failed', { loop, error }),
    ),
  );
  return admission;
}
