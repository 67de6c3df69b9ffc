import { readdir } from 'node:fs/promises';
import { PERSISTENT_VOLUMES, VOLUME_SNAPSHOT_CONTENTS, VOLUMES } from '../../src/api/resources.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { loopsBelow } from './device-mounts.ts';
import { until } from './until.ts';

/**
 * Lists the remaining objects of claims and snapshots in the cluster, and the files and loop
 * devices below the directory of their class.
 */
export async function claimsLeft(client: KubeClient, directory: string): Promise<string[]> {
  const left: string[] = [];
  for (const resource of [VOLUMES, PERSISTENT_VOLUMES, VOLUME_SNAPSHOT_CONTENTS]) {
    const { items } = await client.list(resource);
    left.push(...items.map(({ metadata }) => `${resource.kind} ${metadata.name}`));
  }
  const files = await readdir(directory, { recursive: true });
  left.push(...files.filter((name) => name !== 'snapshots').map((name) => `file ${name}`));
  return [...left, ...(await loopsBelow(directory))];
}

/**
 * Waits until nothing remains.
 * @throws Error that lists what remains
 */
export async function isAllGone(client: KubeClient, directory: string): Promise<void> {
  let left: string[] = [];
  await until('nothing is left', async () => {
    left = await claimsLeft(client, directory);
    return left.length === 0 ? true : undefined;
  }).catch((error: Error) => {
    throw new Error(`${error.message}; there are ${left.join(', ')}`, { cause: error });
  });
}
