import type { KubeObject } from '../../../api/meta.ts';
import type { Io } from '../io.ts';
import { asJson, asYaml, listOf } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { nameOf } from './name.ts';

/** Prints objects, each with what was done after its name. As data, several are a List. */
export function printDone(
  objects: readonly KubeObject[],
  several: boolean,
  did: string | ((object: KubeObject) => string),
  output: 'json' | 'yaml' | 'name' | undefined,
  io: Io,
): void {
  const [first] = objects;
  if (first === undefined) return;
  const data = several ? listOf(objects) : first;
  switch (output) {
    case 'json':
      return void io.stdout.write(asJson(data));
    case 'yaml':
      return void io.stdout.write(asYaml(data));
    case 'name':
      for (const object of objects) io.stdout.write(`${printable(nameOf(object))}\n`);
      return;
    case undefined:
      for (const object of objects) {
        const done = typeof did === 'string' ? did : did(object);
        io.stdout.write(`${printable(nameOf(object))} ${done}\n`);
      }
  }
}

/**
 * Prints objects that flags chose, each with what was done after its name. As data, they are a
 * List, even if there are none.
 */
export function printChosen(
  objects: readonly KubeObject[],
  did: string | ((object: KubeObject) => string),
  output: 'json' | 'yaml' | 'name' | undefined,
  io: Io,
): void {
  if (objects.length === 0 && (output === 'json' || output === 'yaml'))
    io.stdout.write((output === 'json' ? asJson : asYaml)(listOf([])));
  printDone(objects, true, did, output, io);
}
