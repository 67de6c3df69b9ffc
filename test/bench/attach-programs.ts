import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlPlane } from '../cluster/control-plane/control-plane.ts';
import { startControllerManager } from '../cluster/control-plane/controllers.ts';
import { buildPrograms } from '../cluster/control-plane/programs.ts';
import { freePorts } from '../support/free-ports.ts';
import type { Placed } from './fill-cluster.ts';
import { start, WATCH_ENV, WATCH_FLAGS } from './processes.ts';

/** Values of --kube-api-qps and --kube-api-burst, the same for both programs. */
export interface ClientRate {
  qps: number;
  burst: number;
}

/** Input of attach-writes.ts. */
export interface WritesInput {
  kubeconfig: string;
}

/** Input of attach-daemon.ts. */
export interface DaemonInput extends ClientRate, WritesInput {
  /** UIDs of the Volumes on each node. */
  placed: Placed;
  /** Set if the devices are attached at the start. */
  attached: boolean;
  /** Value of --controllers. */
  controllers: string;
}

/** Number of API requests by verb and resource. */
export type Calls = Record<string, number>;

export interface Attaching {
  pid: number;
  /** Rejects if the program ends by itself. */
  broken: Promise<unknown>;
  /** Starts a new count of API requests. */
  mark(): void;
  /** @returns the requests between the marks; none for kube-controller-manager */
  stop(): Promise<Calls[]>;
}

/** Starts kube-controller-manager with only its attach/detach controller. */
export async function startManager(
  { folder, kubeconfig }: ControlPlane,
  { qps, burst }: ClientRate,
): Promise<Attaching> {
  const program = await buildPrograms();
  const [port = 0] = await freePorts(1);
  const part = await startControllerManager({
    program: program('kube-controller-manager'),
    folder,
    kubeconfig,
    port,
    controllers: ['persistentvolume-attach-detach-controller'],
    flags: [`--kube-api-qps=${qps}`, `--kube-api-burst=${burst}`],
  });
  return {
    pid: part.pid,
    broken: new Promise(() => {}),
    mark() {},
    async stop() {
      await part.stop();
      return [];
    },
  };
}

/** @param bundled attach-daemon.ts, or attach-writes.ts */
export async function startOwn(
  bundled: string,
  folder: string,
  input: DaemonInput | WritesInput,
): Promise<Attaching> {
  const file = join(folder, 'input.json');
  const log = join(folder, 'own.log');
  await writeFile(file, JSON.stringify(input));
  const errors = await open(log, 'w');
  const program = start(process.execPath, [...WATCH_FLAGS, bundled, file], WATCH_ENV, errors.fd);
  await errors.close();
  const broken = program.broken.catch(async (error: Error) => {
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
    throw new Error(`${error.message}; its log ended:\n${lines.slice(-10).join('\n')}`);
  });
  broken.catch(() => {});
  return {
    pid: program.pid,
    broken,
    mark: () => process.kill(program.pid, 'SIGUSR2'),
    stop: async () =>
      (await program.stop())
        .trim()
        .split('\n')
        .map((line): Calls => JSON.parse(line)),
  };
}
