import type { KubeObject } from '../../api/meta.ts';
import type { Io } from '../io.ts';
import { asJson, asYaml } from '../output/data.ts';
import type { CreateFlags } from './flags.ts';
import { nameOf } from './name.ts';

/** Prints objects that were created; as data, several are a List. `how` follows their names. */
export function printCreated(
  objects: readonly KubeObject[],
  several: boolean,
  { output }: CreateFlags,
  io: Io,
  how = '',
): void {
  const [first] = objects;
  if (first === undefined) return;
  const data = several ? { apiVersion: 'v1', kind: 'List', metadata: {}, items: objects } : first;
  switch (output) {
    case 'json':
      return void io.stdout.write(asJson(data));
    case 'yaml':
      return void io.stdout.write(asYaml(data));
    case 'name':
      for (const object of objects) io.stdout.write(`${nameOf(object)}\n`);
      return;
    case undefined:
      for (const object of objects) io.stdout.write(`${nameOf(object)} created${how}\n`);
  }
}
