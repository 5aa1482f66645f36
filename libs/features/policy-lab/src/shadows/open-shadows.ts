import type { Boot, Handles, kernelMetrics, SchedulerEnv } from '@svc/runtime';
import { startLoops } from '@svc/platform';
import { ShadowEvaluation, type ShadowEvaluationParts } from './shadow-evaluation';
import type { Shadows } from '@svc/decision';

export interface OpenShadowsParts extends Pick<ShadowEvaluationParts, 'store' | 'kernel'> {
  metrics: Handles<typeof kernelMetrics>;
  /** Calls back at each notice that a part of the configuration changed. */
  onConfigChanged(run: () => void): void;
}

const refreshMs = 15_000;

/**
 * Starts the evaluation of shadow policies in this service, unless SVC_SHADOW_EVAL_DISABLED. It ends with the service, before
 * the kernel and after those who decide. See docs/reference/policy.md#shadow-policies.
 */
export function openShadows(
  { env, log, onStop }: Pick<Boot<Pick<SchedulerEnv, 'shadowEvalDisabled'>>, 'env' | 'log' | 'onStop'>,
  { metrics, onConfigChanged, ...parts }: OpenShadowsParts,
): Shadows {
  if (env.shadowEvalDisabled) return { decided: () => undefined };
  const evaluation = new ShadowEvaluation({
    ...parts,
    monotonicMs: () => performance.now(),
    events: {
      waiting: (count) => metrics.shadowQueueDepth.set(count),
      dropped: (reason, count) => metrics.shadowDropped.inc({ reason }, count),
      evaluated(decision, diff, tookMs) {
        metrics.shadowEvaluations.inc({ decision, diff });
        metrics.shadowSeconds.observe(tookMs / 1_000);
      },
      failed: (what, error) => log.oncePer(`shadow:${what}`, 10_000).warn(problems[what], { error }),
    },
  });
  const refresh = () => evaluation.refresh();
  onConfigChanged(() => void refresh());
  void refresh();
  const run = { name: 'shadows', everyMs: refreshMs, run: refresh };
  const stopLoop = startLoops([run], () => undefined);
  onStop('shadows', async () => {
    await stopLoop();
    await evaluation.close();
  });
  return evaluation;
}

const problems = {
  evaluation: 'a shadow policy could not be evaluated',
  results: 'results of shadow policies could not be written yet',
  list: 'the shadow policies could not be read; those read last stand',
} as const;
