import { planEndpoint } from './endpoint';
import { camel, pascal, requireKebabCase, sentence } from './names';
import { addImport, insertBefore, Refusal, required, withChanges, type Changes, type Repository } from './repository';

/**
 * A feature with one endpoint, `GET /api/v1/<name>`, served by the gateway. It is last in the order of features, so it may
 * import every other one.
 *
 * @throws Refusal when the name is not kebab-case or taken
 */
export function planFeature(repository: Repository, name: string | undefined): Changes {
  requireKebabCase(name, 'the name of the feature');
  const taken = ['apps', 'libs', 'libs/core', 'libs/kits', 'libs/features', 'libs/sdk', 'libs/contract/src']
    .filter((folder) => repository.list(folder).includes(name))
    .map((folder) => `${folder}/${name}`);
  if (taken.length > 0) throw new Refusal(`${taken.join(' and ')} exists already`);
  const folder = `libs/features/${name}`;
  const skeleton = new Map([
    [`${folder}/package.json`, json({ name: `@svc/${name}`, version: '0.1.0', private: true, main: 'src/index.ts' })],
    [
      `${folder}/project.json`,
      json({
        name,
        sourceRoot: `${folder}/src`,
        tags: ['layer:feature', `feature:${name}`],
        targets: { test: {}, lint: {} },
      }),
    ],
    [`${folder}/src/index.ts`, index(name)],
    [`${folder}/src/routes.ts`, routes(name)],
    ['eslint.config.mjs', lintOrder(required(repository, 'eslint.config.mjs'), name)],
    ['package-lock.json', lock(required(repository, 'package-lock.json'), name)],
    ...gateway(repository, name),
  ]);
  return new Map([...skeleton, ...planEndpoint(withChanges(repository, skeleton), name, `list-${name}`)]);
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

const index = (name: string): string =>
  `/** ${sentence(name)}. */\nexport { ${camel(name)}Routes, type ${pascal(name)}Context } from './routes';\n`;

const routes = (name: string): string => `import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import type { Base } from '@svc/platform';

/** Dependencies of these handlers. */
export interface ${pascal(name)}Context {
  ${camel(name)}: Base;
}

const handle = handlersFor<${pascal(name)}Context>();

/** ${sentence(name)}. */
export const ${camel(name)}Routes = [
];
`;

function lintOrder(text: string, name: string): string {
  const path = 'eslint.config.mjs';
  const start = text.indexOf('const features = [');
  const end = text.indexOf('\n];', start);
  if (start < 0 || end < 0) throw new Refusal(`${path} has no list of features`);
  const inserted = `\n  ...['${name}'],`;
  return text.slice(0, end) + inserted + text.slice(end);
}

/** `npm ci` refuses a workspace that the lock file does not list. */
function lock(text: string, name: string): string {
  const { packages, ...rest } = JSON.parse(text) as { packages: Record<string, object> };
  const entries = Object.entries(packages).concat([
    [`libs/features/${name}`, { name: `@svc/${name}`, version: '0.1.0' }],
    [`node_modules/@svc/${name}`, { resolved: `libs/features/${name}`, link: true }],
  ]);
  // The order of npm: the root, then by path.
  const sorted = entries.sort(([a], [b]) => a.localeCompare(b, 'en'));
  return json({ ...rest, packages: Object.fromEntries(sorted) });
}

function gateway(repository: Repository, name: string): [string, string][] {
  const list = 'apps/api/src/routes/index.ts';
  const context = 'apps/api/src/context.ts';
  const build = 'apps/api/src/build-context.ts';
  const listed = addImport(required(repository, list), list, `import { ${camel(name)}Routes } from '@svc/${name}';`);
  const typed = addImport(
    required(repository, context),
    context,
    `import type { ${pascal(name)}Context } from '@svc/${name}';`,
  );
  return [
    [list, insertBefore(listed, list, '];', `  ...${camel(name)}Routes,\n`, 'const routes')],
    [context, insertBefore(typed, context, ';', ` &\n  ${pascal(name)}Context`, 'export type ApiContext')],
    [
      build,
      insertBefore(
        required(repository, build),
        build,
        '\n    status: ',
        `\n    ${camel(name)}: base,`,
        'export function buildContext',
      ),
    ],
  ];
}
