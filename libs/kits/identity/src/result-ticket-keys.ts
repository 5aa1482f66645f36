import type { ApiEnv } from '@svc/runtime';
import { readKeyFile } from './key-file';
import { openResultTickets, type ResultTickets } from './result-ticket';

/**
 * Opens the result tickets with the keys from the environment or their file; undefined when neither is set.
 *
 * @throws StartError when the file cannot be read or contains too short a key
 */
export function resultTicketsFrom<Facts extends object>(
  env: Pick<ApiEnv, 'resultTicketKeys' | 'resultTicketKeysPath'>,
): ResultTickets<Facts> | undefined {
  const { resultTicketKeys, resultTicketKeysPath: path } = env;
  const [first, ...others] = path === undefined ? resultTicketKeys : readKeys(path);
  return first === undefined ? undefined : openResultTickets<Facts>([first, ...others]);
}

const readKeys = (path: string) =>
  readKeyFile(path, 'SVC_RESULT_TICKET_KEYS_PATH', 'result tickets cannot be encrypted', { isList: true });
