import { StowageError } from '../../api/errors.ts';
import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Io } from '../lib/io.ts';
import { selected } from '../lib/objects/selector.ts';

/** Flags that choose Volumes in place of names. */
export interface ChoiceFlags {
  selector?: string;
  all?: boolean;
}

/** Throws a StowageError `usage` unless Volumes are chosen in exactly one way. */
export function requireOneWay(
  verb: string,
  names: readonly string[],
  { selector, all }: ChoiceFlags,
): void {
  const ways = [names.length > 0, selector !== undefined, all === true].filter(Boolean);
  if (ways.length !== 1) {
    throw new StowageError('usage', `${verb} volume needs names, or --selector, or --all`, {
      hint: `For example: stowage ${verb} volume data1`,
    });
  }
  // An unset variable of a script would select every Volume.
  if (selector?.trim() === '')
    throw new StowageError('usage', '--selector is empty', { hint: 'For all Volumes: --all' });
}

/** Lists the selected Volumes, or all. */
export async function listChosen(
  selector: string | undefined,
  { signal, stderr }: Io,
  client: KubeClient,
): Promise<Volume[]> {
  const list = listAll<Volume>(client, VOLUMES, { labelSelector: selector, signal });
  const { items } = await selected(selector, list);
  if (items.length === 0) stderr.write('No volumes found\n');
  return items;
}
