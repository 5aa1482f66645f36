import { camel, pascal, requireKebabCase, sentence } from './names';
import { addImport, insertBefore, Refusal, required, type Changes, type Repository } from './repository';

/** Services that run processors, and the hook by which their tests start them. */
const hooks = { scheduler: 'use-scheduler', engine: 'use-engine' } as const;
export type Consumer = keyof typeof hooks;
export const isConsumer = (name: string): name is Consumer => Object.hasOwn(hooks, name);

/**
 * A queue: its row, the payload, and its processor with a test.
 *
 * @throws Refusal when the name is not kebab-case or taken
 */
export function planQueue(repository: Repository, name: string | undefined, consumer: Consumer = 'scheduler'): Changes {
  requireKebabCase(name, 'the name of the queue');
  const config = 'queues.config.ts';
  const table = required(repository, config);
  const folder = `apps/${consumer}/src/processors`;
  const isTaken = table.includes(`  ${camel(name)}: {`) || table.includes(`    name: '${name}',`);
  if (isTaken) throw new Refusal(`${config} has a queue ${name} already`);
  if (repository.list(folder).includes(`${name}.ts`)) throw new Refusal(`${folder}/${name}.ts exists already`);
  const list = `${folder}/index.ts`;
  const listed = addImport(required(repository, list), list, `import { ${camel(name)} } from './${name}';`);
  const typed = insertBefore(
    table,
    config,
    '\nconst jobPayload',
    `export interface ${pascal(name)}Payload {\n  id: string;\n}\n`,
  );
  return new Map([
    [config, insertBefore(typed, config, '}); // prettier-ignore', row(name, consumer), 'defineQueues(')],
    [list, insertBefore(listed, list, '];', `, ${camel(name)}`, 'processors = [')],
    [`${folder}/${name}.ts`, processor(name)],
    [`${folder}/${name}.test.ts`, test(name, consumer)],
  ]);
}

const row = (name: string, consumer: Consumer): string => `  ${camel(name)}: {
    name: '${name}',
    title: '${sentence(name)}',
    purpose: '${sentence(name)} to process.',
    producers: ['${consumer}'],
    consumer: '${consumer}',
    payload: shape<${pascal(name)}Payload>({ required: { id: Joi.string() } }),
    ...parked,
  },
`;

const processor = (name: string): string => `import { queues } from '@svc/queues.config';
import { processor } from '../context';

/** Safe to run twice: it only reads. */
export const ${camel(name)} = processor(queues.${camel(name)}, async ({ payload, ctx }) => {
  await ctx.store.jobs.load(payload.id);
});
`;

const test = (name: string, consumer: Consumer): string => `import { openQueue } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { eventually } from '@svc/testing';
import { ${camel(hooks[consumer])} } from '../${hooks[consumer]}.testing';

describe('the queue ${name}', () => {
  const use = ${camel(hooks[consumer])}();

  it('processes an entry and removes it', async () => {
    await use.start();
    const queue = openQueue(queues.${camel(name)}, { url: use.servers.redisUrl });

    const { id = '' } = await queue.add('entry', { id: 'id-1' });

    await eventually(async () => expect(await queue.getJob(id)).toBeUndefined());
    await queue.close();
  });
});
`;
