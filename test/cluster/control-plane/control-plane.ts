import { chmod, cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../../support/free-ports.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Part } from '../part.ts';
import {
  type ApiServerOptions,
  certificateOf,
  prepareApiServer,
  startApiServer,
} from './api-server.ts';
import { startControllerManager, startScheduler } from './controllers.ts';
import { dataOf, startEtcd } from './etcd.ts';
import { buildPrograms } from './programs.ts';
import { kubeconfigFor, newUser } from './users.ts';

export interface ControlPlaneOptions {
  /** Users beside the administrator, by name, with their groups. RBAC decides what they may do. */
  users?: Readonly<Record<string, readonly string[]>>;
  /** Additional flags of kube-apiserver. */
  apiServerFlags?: readonly string[];
  /**
   * Controllers to run, as kube-controller-manager names them. Absent: all of them, and the
   * scheduler.
   */
  controllers?: readonly string[];
}

export interface ControlPlane {
  url: string;
  /** Path of the administrator's kubeconfig. */
  kubeconfig: string;
  /** Returns the path of the kubeconfig of one of `users`. */
  kubeconfigOf(user: string): string;
  /** Path of a kubectl of the same version. */
  kubectl: string;
  /** Returns the PID of the API server that was started last. */
  apiServerPid(): number;
  /** Directory of keys, tokens, data and logs. stop() removes it. */
  folder: string;
  /** Stops the API server alone, for outages. All kubeconfigs stay valid when it starts again. */
  stopApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  /** Copies the data of etcd. All programs are stopped for the copy and started again. */
  backUp(): Promise<void>;
  /**
   * Restores that copy. Restarts all programs, as Kubernetes requires after a restore of etcd: none
   * of them notices the restore. Clients are not restarted.
   */
  restore(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts etcd, kube-apiserver, kube-controller-manager and kube-scheduler on free loopback ports.
 * Builds them first.
 */
export async function startControlPlane({
  users = {},
  apiServerFlags = [],
  controllers,
}: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const program = await buildPrograms();
  const { path: folder } = await temporaryDirectory('control-plane');
  await chmod(folder, 0o700);
  const parts: Part[] = [];
  const started = async <T extends Part>(part: Promise<T>): Promise<T> => {
    parts.push(await part);
    return part;
  };
  const stopParts = async () => {
    for (const part of parts.splice(0).reverse()) await part.stop();
  };
  try {
    const [etcdPort = 0, peerPort = 0, port = 0, managerPort = 0, schedulerPort = 0] =
      await freePorts(5);
    const administrator = newUser('administrator', ['system:masters']);
    const others = Object.entries(users).map(([name, groups]) => newUser(name, groups));
    const options: ApiServerOptions = {
      program: program('kube-apiserver'),
      folder,
      port,
      etcdUrl: `http://127.0.0.1:${etcdPort}`,
      users: [administrator, ...others],
      flags: apiServerFlags,
    };
    const url = `https://127.0.0.1:${port}`;
    const fileOf = (name: string) => join(folder, `${name.replaceAll(/[^\w.-]/g, '_')}.kubeconfig`);
    const kubeconfig = fileOf(administrator.name);
    const common = { folder, kubeconfig };

    const startServer = async () => {
      await started(startEtcd(program('etcd'), folder, [etcdPort, peerPort]));
      return started(startApiServer(options));
    };
    const startControllers = async () => {
      const manager = startControllerManager({
        ...common,
        program: program('kube-controller-manager'),
        port: managerPort,
        controllers: controllers ?? ['*'],
      });
      const scheduler = { ...common, program: program('kube-scheduler'), port: schedulerPort };
      const all = [manager, ...(controllers === undefined ? [startScheduler(scheduler)] : [])];
      // Wait for all of them, so that the started ones can be stopped when another one fails.
      for (const one of await Promise.allSettled(all.map(started)))
        if (one.status === 'rejected') throw one.reason;
    };

    await prepareApiServer(options);
    let apiServer = await startServer();
    const ca = await certificateOf(folder);
    for (const user of options.users)
      await writeFile(fileOf(user.name), kubeconfigFor({ url, ca }, user), { mode: 0o600 });
    await startControllers();

    const data = dataOf(folder);
    const backup = `${data}.backup`;
    const copyWhileStopped = async (from: string, to: string) => {
      await stopParts();
      await rm(to, { recursive: true, force: true });
      await cp(from, to, { recursive: true });
      apiServer = await startServer();
      await startControllers();
    };
    return {
      url,
      kubeconfig,
      kubeconfigOf: fileOf,
      kubectl: program('kubectl'),
      apiServerPid: () => apiServer.pid,
      folder,
      stopApiServer: () => apiServer.stop(),
      async startApiServer() {
        parts.splice(parts.indexOf(apiServer), 1);
        apiServer = await started(startApiServer(options));
      },
      backUp: () => copyWhileStopped(data, backup),
      restore: () => copyWhileStopped(backup, data),
      async stop() {
        await stopParts();
        await rm(folder, { recursive: true });
      },
    };
  } catch (error) {
    // The directory stays: the error names a log in it.
    await stopParts();
    throw error;
  }
}
