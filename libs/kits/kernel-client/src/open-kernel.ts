import type { Kernel } from './kernel';
import { openLocalKernel, type KernelDeps } from './local/open-local-kernel';
import { openRemoteKernel } from './remote/open-remote-kernel';
import type { KernelSettings } from './settings';

/** The kernel over gRPC when an address is configured, otherwise within this process. @throws StartError */
export const openKernel = ({ local, remote }: KernelSettings, deps: KernelDeps): Promise<Kernel> =>
  remote ? openRemoteKernel(remote, deps) : openLocalKernel(local, deps);
