import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { type Part, startPart } from '../part.ts';
import { SIGNING_KEY } from './api-server.ts';

interface Options {
  program: string;
  folder: string;
  port: number;
  /** Path of a kubeconfig of a user with all rights. */
  kubeconfig: string;
}

/**
 * Starts the PV binder, protection finalizers, the garbage collector, namespaces, deployments, …
 */
export function startControllerManager(
  options: Options & { controllers: readonly string[]; flags?: readonly string[] },
): Promise<Part> {
  return start('kube-controller-manager', options, [
    `--controllers=${options.controllers.join(',')}`,
    // Claims that the binder missed are retried after 1 s instead of 15 s.
    '--pvclaimbinder-sync-period=1s',
    `--service-account-private-key-file=${join(options.folder, SIGNING_KEY)}`,
    ...(options.flags ?? []),
  ]);
}

/**
 * Starts the scheduler, which assigns nodes to pods and so volumes to claims that wait for a
 * consumer.
 */
export function startScheduler(options: Options): Promise<Part> {
  return start('kube-scheduler', options, []);
}

function start(
  name: string,
  { program, folder, port, kubeconfig }: Options,
  flags: string[],
): Promise<Part> {
  return startPart({
    name,
    argv: [
      program,
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      ...flags,
    ],
    folder,
    ready: () => isHealthy(`https://127.0.0.1:${port}/healthz`),
  });
}

/**
 * Reports whether /healthz succeeds. The program's certificate is self-signed and new on each
 * start.
 */
async function isHealthy(url: string): Promise<boolean> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    return (await fetch(url, { dispatcher })).ok;
  } finally {
    await dispatcher.close();
  }
}
