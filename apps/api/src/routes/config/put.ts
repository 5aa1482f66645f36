import { putConfig } from '@svc/contract';
import { writeConfig } from '@svc/config-admin';
import { handle } from '../../context';

export const put = handle(putConfig, ({ body, caller, ctx }) => writeConfig(ctx.config, caller, body));
