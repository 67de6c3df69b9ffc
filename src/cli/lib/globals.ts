import type { Command } from 'commander';
import { VERSION } from '../../api/version.ts';
import type { Connection, ConnectOptions } from '../../kube/connect.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Io } from './io.ts';

export interface GlobalFlags {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
  as?: string;
  /** ms */
  requestTimeout?: number;
  color: boolean;
  verbose?: boolean;
}

/** Connects to the cluster that the flags of a command name. Calls `onCall` for each request. */
export function connectFor(
  command: Command,
  io: Io,
  onCall?: ConnectOptions['onCall'],
): Promise<Connection> {
  const { requestTimeout, ...flags } = command.optsWithGlobals<GlobalFlags>();
  const { kubeconfig, context, namespace, as } = flags;
  return io.connect({
    kubeconfig,
    context,
    namespace,
    as,
    requestTimeoutMs: requestTimeout,
    version: VERSION,
    ...(onCall === undefined ? {} : { onCall }),
  });
}

/** Returns a function that connects to that cluster on its first call, and returns the client. */
export function clientFor(command: Command, io: Io): () => Promise<KubeClient> {
  let client: Promise<KubeClient> | undefined;
  return () => {
    client ??= connectFor(command, io).then((connection) => connection.client);
    return client;
  };
}
