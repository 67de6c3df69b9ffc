import { join } from 'node:path';
import { fetch } from 'undici';
import { type Part, startPart } from '../part.ts';

export interface Etcd extends Part {
  url: string;
}

/** An etcd of one member on loopback, with its data in `folder`. */
export async function startEtcd(
  program: string,
  folder: string,
  [port, peerPort]: readonly [number, number],
): Promise<Etcd> {
  const url = `http://127.0.0.1:${port}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const part = await startPart({
    name: 'etcd',
    argv: [
      program,
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
      // No test outlives a power cut of the machine that it runs on.
      '--unsafe-no-fsync',
      '--log-level=warn',
    ],
    folder,
    ready: async () => (await fetch(`${url}/health`)).ok,
  });
  return { ...part, url };
}
