/** Named locks for clients, with fencing tokens. */
export { lockRoutes, type LockContext } from './routes';
