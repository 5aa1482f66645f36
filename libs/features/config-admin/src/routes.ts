import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { readConfig, readEffective } from '@svc/settings';
import { type ConfigWriteDeps, writeConfig } from './write-config';

/** Dependencies of these handlers. */
export interface ConfigContext {
  config: ConfigWriteDeps;
}

const handle = handlersFor<ConfigContext>();

/** Config documents. */
export const configRoutes = [
  handle(contract.getConfig, async ({ query, caller, ctx }) => {
    const document = await readConfig(ctx.config, caller, query);
    return query.envelope ? { ...document } : document.data;
  }),
  handle(contract.effectiveConfig, ({ query, caller, ctx }) => readEffective(ctx.config, caller, query)),
  handle(contract.putConfig, ({ body, caller, ctx }) => writeConfig(ctx.config, caller, body)),
  handle(contract.postConfig, ({ body, caller, ctx }) => writeConfig(ctx.config, caller, body)),
];
