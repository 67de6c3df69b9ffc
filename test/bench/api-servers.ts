import { execa } from 'execa';
import { startControlPlane } from '../cluster/control-plane/control-plane.ts';
import { startSandbox, usageOf } from './processes.ts';

/** What a bench runs against: Stowage's CRDs are there, and else nothing. */
export interface Api {
  /** A file. */
  kubeconfig: string;
  /** In s, of all its processes so far. */
  cpu(): Promise<number>;
  stop(): Promise<unknown>;
}

/** `file` may be written. */
export type StartApi = (file: string) => Promise<Api>;

/** `stowage sandbox`. */
export async function startSandboxApi(file: string): Promise<Api> {
  const { pid, stop } = await startSandbox(file);
  return { kubeconfig: file, stop, cpu: async () => (await usageOf(pid)).cpu };
}

/** A real kube-apiserver with its etcd, and the controllers of a cluster beside it. */
export async function startRealApi(): Promise<Api> {
  const { kubeconfig, pids, stop } = await startControlPlane();
  const env = { KUBECONFIG: kubeconfig };
  await execa('bin/stowage', ['install', '--components', 'crds'], { env });
  return {
    kubeconfig,
    stop,
    async cpu() {
      const used = await Promise.all(pids().map(usageOf));
      return used.reduce((sum, { cpu }) => sum + cpu, 0);
    },
  };
}
