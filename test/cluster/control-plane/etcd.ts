import { join } from 'node:path';
import { fetch } from 'undici';
import { type Part, startPart } from '../part.ts';

/** Returns etcd's data directory. */
export const dataOf = (folder: string) => join(folder, 'etcd');

/** Starts an etcd of one member on loopback, with its data in `folder`. */
export function startEtcd(
  program: string,
  folder: string,
  [port, peerPort]: readonly [number, number],
): Promise<Part> {
  const url = `http://127.0.0.1:${port}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  return startPart({
    name: 'etcd',
    argv: [
      program,
      `--data-dir=${dataOf(folder)}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
      // No test outlives a power failure of its machine.
      '--unsafe-no-fsync',
      '--log-level=warn',
    ],
    folder,
    ready: async () => (await fetch(`${url}/health`)).ok,
  });
}
