import { postConfig } from '@svc/contract';
import { writeConfig } from '@svc/config-admin';
import { handle } from '../../context';

export const post = handle(postConfig, ({ body, caller, ctx }) => writeConfig(ctx.config, caller, body));
