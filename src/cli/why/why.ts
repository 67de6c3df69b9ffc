import type { KubeNode, StorageClass } from '../../api/core.ts';
import { phaseOf } from '../../api/phase.ts';
import { NODES, STORAGE_CLASSES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import type { KubeClient } from '../../kube/types.ts';
import { nodeOf } from '../../volumes/desired.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { asJson, asYaml } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { readNamed } from '../volume/reading.ts';
import { readConsumers } from '../volume/related.ts';
import { diagnose } from './diagnose.ts';
import { explanation } from './text.ts';
import type { Known } from './types.ts';

export interface WhyFlags {
  output?: 'json' | 'yaml';
}

/** `stowage why volume`. Throws a StowageError. */
export async function whyVolume(
  name: string,
  { output }: WhyFlags & GlobalFlags,
  io: Io,
  client: KubeClient,
): Promise<void> {
  const { signal } = io;
  const volume = await client.get<Volume>(VOLUMES, name, { signal });
  const known: Known = {
    volume,
    ...(await readConsumers(client, volume, signal)),
    storageClass: await readNamed<StorageClass>(client, STORAGE_CLASSES, volume.spec.storageClassName, {
      signal,
    }),
    node: await readNamed<KubeNode>(client, NODES, nodeOf(volume), { signal }),
  };
  for (const part of Object.values(known)) {
    if ('forbidden' in part) io.stderr.write(`note: not looked at: ${printable(part.forbidden)}\n`);
  }
  const phase = phaseOf(volume) ?? 'Unknown';
  const now = io.clock.now();
  const diagnosis = diagnose(known, now);
  const data = { kind: 'Volume', name, phase, ...diagnosis };
  if (output === 'json') io.stdout.write(asJson(data));
  else if (output === 'yaml') io.stdout.write(asYaml(data));
  else io.stdout.write(explanation(name, phase, diagnosis, now));
}
