import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Io } from '../lib/io.ts';
import { type ChoiceWords, listChosen } from '../lib/objects/choose.ts';

export const VOLUME_CHOICE: ChoiceWords = { noun: 'volume', all: 'Volumes', example: 'data1' };

/** Lists the selected Volumes, or all. Reports if there are none. */
export async function chosenVolumes(
  selector: string | undefined,
  io: Io,
  client: KubeClient,
): Promise<Volume[]> {
  const items = await listChosen<Volume>(VOLUMES, selector, io, client);
  if (items.length === 0) io.stderr.write('No volumes found\n');
  return items;
}
