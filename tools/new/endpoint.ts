import { camel, pascal, plural, requireKebabCase, sentence } from './names';
import { addImport, insertBefore, Refusal, required, type Changes, type Repository } from './repository';

/** Folders of declarations that are not named after the feature. */
const declaredIn: Readonly<Record<string, string>> = {
  audit: 'policy',
  'config-admin': 'settings',
  'policy-admin': 'policy',
  'policy-lab': 'policy',
};

interface Target {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Follows `/api/v1/<collection>`. */
  rest: '' | '/:id' | `/:id/${string}`;
}

const all = (method: Target['method']): Target => ({ method, rest: '' });
const one = (method: Target['method']): Target => ({ method, rest: '/:id' });

const targets: Readonly<Record<string, Target>> = {
  list: all('get'),
  get: one('get'),
  read: one('get'),
  create: all('post'),
  add: all('post'),
  replace: one('put'),
  update: one('patch'),
  remove: one('delete'),
  delete: one('delete'),
};

interface Endpoint extends Target {
  /** Such as `list-reports`. */
  operation: string;
  verb: string;
  /** As in the path: `reports`. */
  collection: string;
}

/**
 * An endpoint: its declaration, its operation with a test, and its handler.
 *
 * @param feature a feature, or a folder of one that has routes of its own, such as `registry/topics`
 * @throws Refusal when a name is not kebab-case or taken, or the feature has no routes
 */
export function planEndpoint(
  repository: Repository,
  feature: string | undefined,
  operation: string | undefined,
): Changes {
  const [project = '', ...folders] = (feature ?? '').split('/');
  for (const part of [project, ...folders]) requireKebabCase(part || undefined, 'the name of the feature');
  requireKebabCase(operation, 'the name of the endpoint');
  const [verb = '', ...nouns] = operation.split('-');
  if (nouns.length === 0) {
    throw new Refusal(`the name of the endpoint must be <verb>-<noun>, such as list-reports; got "${operation}"`);
  }
  const target = targets[verb] ?? { method: 'post', rest: `/:id/${verb}` };
  const noun = nouns.join('-');
  const collection = verb === 'list' ? noun : plural(noun);
  const endpoint: Endpoint = { operation, verb, collection, ...target };
  const source = ['libs/features', project, 'src', ...folders].join('/');
  const declarations = `libs/contract/src/${declaredIn[project] ?? project}`;
  requireFree(repository, endpoint, [declarations, source]);
  return new Map([
    [`${declarations}/${operation}.ts`, declaration(endpoint)],
    ['libs/contract/src/endpoints.ts', endpoints(repository, declarations, operation)],
    [`${source}/${operation}.ts`, implementation(endpoint)],
    [`${source}/${operation}.test.ts`, test(endpoint)],
    [`${source}/routes.ts`, routes(repository, project, source, endpoint)],
  ]);
}

const path = ({ collection, rest }: Endpoint): string => `/api/v1/${collection}${rest}`;
const place = (endpoint: Endpoint): string => `  method: '${endpoint.method}',\n  path: '${path(endpoint)}',\n`;

function requireFree(repository: Repository, endpoint: Endpoint, folders: readonly string[]): void {
  const { operation } = endpoint;
  for (const folder of folders) {
    if (repository.list(folder).includes(`${operation}.ts`))
      throw new Refusal(`${folder}/${operation}.ts exists already`);
  }
  const declarations = repository
    .list('libs/contract/src')
    .flatMap((folder) =>
      repository.list(`libs/contract/src/${folder}`).map((file) => `libs/contract/src/${folder}/${file}`),
    )
    .filter((file) => file.endsWith('.ts'));
  for (const file of declarations) {
    const text = repository.read(file) ?? '';
    if (text.includes(`export const ${camel(operation)} =`)) {
      throw new Refusal(`${camel(operation)} exists already, in ${file}`);
    }
    if (text.includes(place(endpoint))) {
      throw new Refusal(`${endpoint.method.toUpperCase()} ${path(endpoint)} exists already, in ${file}`);
    }
  }
}

const declaration = (endpoint: Endpoint): string => {
  const { operation, collection, verb, rest } = endpoint;
  const view = `${pascal(operation)}View`;
  const params = rest === '' ? '{}' : "{ id: text('Id of the record.').min(1).max(limits.idChars) }";
  return `import { endpoint } from '../endpoint';
import { text } from '../fields';
${rest === '' ? '' : "import { limits } from '../limits';\n"}import { shape } from '../shape';

export interface ${view} {
  org_id: string;
}

export const ${camel(operation)} = endpoint({
  id: '${camel(collection)}.${camel(verb)}',
${place(endpoint)}  summary: '${sentence(operation)}',
  access: { permission: 'admin.*', roles: ['admin'] },
  params: ${params},
  answer: {
    status: 200,
    body: shape<${view}>({
      required: { org_id: text('Tenant of the caller.') },
    }),
  },
  errors: [],
});
`;
};

function endpoints(repository: Repository, folder: string, operation: string): string {
  const file = 'libs/contract/src/endpoints.ts';
  const from = `./${folder.slice('libs/contract/src/'.length)}/${operation}`;
  const imported = addImport(required(repository, file), file, `import { ${camel(operation)} } from '${from}';`);
  const exported = insertBefore(imported, file, '\n/** Every HTTP endpoint', `export * from '${from}';\n`);
  return insertBefore(exported, file, '] as const;', `  ${camel(operation)},\n`, 'export const endpoints = [');
}

const isOne = ({ rest }: Endpoint): boolean => rest !== '';

const implementation = (endpoint: Endpoint): string => {
  const { operation } = endpoint;
  const view = `${pascal(operation)}View`;
  return `import type { Caller, ${view} } from '@svc/contract';

/** ${sentence(operation)}, within the tenant of the caller. */
export async function ${camel(operation)}(
  caller: Pick<Caller, 'tenant'>,${isOne(endpoint) ? '\n  _id: string,' : ''}
): Promise<${view}> {
  return { org_id: caller.tenant };
}
`;
};

const test = (endpoint: Endpoint): string => {
  const { operation } = endpoint;
  return `import { person } from '@svc/testing';
import { ${camel(operation)} } from './${operation}';

describe('${operation.replaceAll('-', ' ')}', () => {
  it('answers for the tenant of the caller', async () => {
    const view = await ${camel(operation)}(person('ada', { tenant: 'globex' })${isOne(endpoint) ? ", 'id-1'" : ''});

    expect(view).toEqual({ org_id: 'globex' });
  });
});
`;
};

function routes(repository: Repository, project: string, source: string, endpoint: Endpoint): string {
  const file = `${source}/routes.ts`;
  const text = repository.read(file);
  if (text === undefined) throw new Refusal(`${file} does not exist${others(repository, project)}`);
  const { operation } = endpoint;
  const [args, values] = isOne(endpoint) ? ['caller, params', 'caller, params.id'] : ['caller', 'caller'];
  const handler = `handle(contract.${camel(operation)}, ({ ${args} }) => ${camel(operation)}(${values}))`;
  const imported = addImport(text, file, `import { ${camel(operation)} } from './${operation}';`);
  // Prettier keeps a short list of one handler on its line.
  const isOneLine = imported.split('\n').some((line) => line.includes('Routes = [') && line.endsWith('];'));
  return isOneLine
    ? insertBefore(imported, file, '];', `, ${handler}`, 'Routes = [')
    : insertBefore(imported, file, '\n];', `\n  ${handler},`, 'Routes = [');
}

/** Routes that a feature has in its folders, for the message that it has none of its own. */
function others(repository: Repository, project: string): string {
  const source = `libs/features/${project}/src`;
  const folders = repository
    .list(source)
    .filter((name) => repository.list(`${source}/${name}`).includes('routes.ts'))
    .map((name) => `${project}/${name}`);
  return folders.length === 0 ? '' : `; choose one of ${folders.join(', ')}`;
}
