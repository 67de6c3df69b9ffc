import { VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { createInformer, type Informer } from '../../src/kube/informer.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { memoryLogger } from './logger.ts';

/**
 * Returns a synced informer of Volumes. `onChange` is called for all Volumes, including existing
 * ones.
 */
export async function followVolumes(
  client: KubeClient,
  onChange: (volume: Volume) => void = () => {},
): Promise<Informer<Volume>> {
  const volumes = createInformer<Volume>({
    client,
    resource: VOLUMES,
    clock: systemClock,
    random: Math.random,
    logger: memoryLogger(),
  });
  volumes.onChange(({ object }) => onChange(object));
  volumes.start();
  await volumes.synced;
  return volumes;
}
