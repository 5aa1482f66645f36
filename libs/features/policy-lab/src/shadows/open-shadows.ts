import type { Boot, Handles, kernelMetrics, SchedulerEnv } from '@svc/runtime';
import { startLoops } from '@svc/platform';
import { ShadowEvaluation, type ShadowEvaluationParts } from './shadow-evaluation';
import type { ShadowReporter } from '@svc/decision';

export interface OpenShadowsParts extends Pick<ShadowEvaluationParts, 'store' | 'kernel'> {
  metrics: Handles<typeof kernelMetrics>;
  /** Registers a callback for notices of configuration changes. */
  onConfigChanged(run: () => void): void;
}

const refreshMs = 15_000;

/**
 * Starts the evaluation of shadow policies in this service, unless SVC_SHADOW_EVAL_DISABLED. It stops with the service,
 * after the components that decide and before the kernel. See docs/reference/policy.md#shadow-policies.
 */
export function openShadows(
  { env, log, onStop }: Pick<Boot<Pick<SchedulerEnv, 'shadowEvalDisabled'>>, 'env' | 'log' | 'onStop'>,
  { metrics, onConfigChanged, ...parts }: OpenShadowsParts,
): ShadowReporter {
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
  results: 'results of shadow policies could not be written; retrying',
  list: 'shadow policies could not be read; the previous ones stay in effect',
} as const;
