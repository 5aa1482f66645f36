import { systemClock } from '@svc/runtime';
import { queues } from '@svc/queues.config';
import { EffectiveConfig } from '@svc/settings';
import { type RecordedRequest, readRecordedRequests } from '@svc/policy-lab';
import { openStore } from '@svc/store';
import { Redis } from 'ioredis';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import Joi from 'joi';
import { Unusable } from './options';

export interface Decisions {
  questions: RecordedRequest[];
  warnings: string[];
}

export interface Wanted {
  sinceMs: number;
  most: number;
}

/** Reads the decisions of an installation from Redis. @throws Unusable when Redis is unavailable */
export async function ofStore(url: string, { sinceMs, most }: Wanted): Promise<Decisions> {
  const redis = new Redis(url, { maxRetriesPerRequest: 2, lazyConnect: true });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const clock = systemClock();
    const store = openStore(redis, queues, { metaSec: 1, dataSec: 1 });
    const config = new EffectiveConfig(store, clock);
    const found = await readRecordedRequests({ store, config }, { fromMs: clock.nowMs() - sinceMs, most });
    return {
      questions: found.questions,
      warnings: [
        ...(found.isCut ? [`only the newest ${found.questions.length} decisions are included (--most)`] : []),
        ...(found.withoutContent > 0
          ? [`the inputs of ${found.withoutContent} jobs have expired; content rules cannot match them`]
          : []),
      ],
    };
  } catch (error) {
    throw new Unusable([`REDIS_URL: ${error instanceof Error ? error.message : String(error)}`]);
  } finally {
    redis.disconnect();
  }
}

const line = Joi.object<RecordedRequest>({
  decision: Joi.string().valid('ALLOW', 'ALLOW_WITH_CONSTRAINTS', 'REQUIRE_APPROVAL', 'THROTTLE', 'DENY').required(),
  rule_id: Joi.string().allow('').required(),
  decided_at: Joi.string().isoDate().required(),
  request: Joi.object({ topic: Joi.string().required() }).unknown().required(),
});

/** Reads exported decisions, one JSON object per line. @throws Unusable with the line */
export async function ofFile(path: string, { most }: Pick<Wanted, 'most'>): Promise<Decisions> {
  const questions: RecordedRequest[] = [];
  let number = 0;
  try {
    for await (const text of createInterface({ input: createReadStream(path, 'utf8') })) {
      number += 1;
      if (text.trim() === '') continue;
      if (questions.length === most)
        return { questions, warnings: [`only the first ${most} decisions are included (--most)`] };
      questions.push(read(text));
    }
  } catch (error) {
    throw new Unusable([
      `${path}${number > 0 ? `:${number}` : ''}: ${error instanceof Error ? error.message : String(error)}`,
    ]);
  }
  return { questions, warnings: [] };
}

function read(text: string): RecordedRequest {
  const { error, value } = line.validate(JSON.parse(text), { convert: false });
  if (error) throw error;
  return value as RecordedRequest;
}
