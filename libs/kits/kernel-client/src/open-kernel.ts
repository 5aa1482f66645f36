import type { Kernel } from './kernel';
import { openLocalKernel, type KernelDeps } from './local/open-local-kernel';
import { openRemoteKernel } from './remote/open-remote-kernel';
import type { KernelSettings } from './settings';

/** The kernel over gRPC when there is an address for it, else within this process. @throws StartError */
export const openKernel = ({ local, remote }: KernelSettings, deps: KernelDeps): Promise<Kernel> =>
  remote ? openRemoteKernel(remote, deps) : openLocalKernel(local, deps);
