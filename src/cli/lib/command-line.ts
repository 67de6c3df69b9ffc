import { isWrittenOnSeveral } from '../../api/access-modes.ts';
import { OUT_OF_SERVICE_TAINT } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import { onDeleteOf } from '../../model/desired-volume.ts';
import { taintOff } from '../../model/node-death.ts';
import { commandText } from '../../nodes/quote.ts';

/** A command to paste into a shell: names from the cluster are hostile. */
export const commandLine = commandText;

/** One to run on a node: ssh puts its words together again, and the shell there reads them once more. */
export const onNode = (node: string, ...argv: readonly string[]): string =>
  commandLine('ssh', node, ...argv.map((word) => commandLine(word)));

export const patchSpec = ({ metadata }: Volume, spec: object): string =>
  commandLine(
    'kubectl',
    'patch',
    'volume',
    metadata.name,
    '--type',
    'merge',
    '-p',
    JSON.stringify({ spec }),
  );

/**
 * Takes finalizers off an object, if it still has exactly these at these places: what others put there meanwhile stays.
 * @param all as the object has them
 */
export function takeOff(
  object: readonly string[],
  all: readonly string[],
  off: readonly string[],
): string {
  const patch = all
    .map((value, at) => ({ value, path: `/metadata/finalizers/${at}` }))
    .filter(({ value }) => off.includes(value))
    // From the last one, so that the places of the others stay what they are.
    .toReversed()
    .flatMap(({ value, path }) => [
      { op: 'test', path, value },
      { op: 'remove', path },
    ]);
  return commandLine('kubectl', 'patch', ...object, '--type', 'json', '-p', JSON.stringify(patch));
}

/** Takes the taint off a node that is in service again. */
export const untaint = (node: string): string =>
  commandLine('kubectl', 'taint', 'node', node, `${OUT_OF_SERVICE_TAINT}-`);

/**
 * Has a Volume let go of on a node that is dead, and switched off. Where other nodes share its directory, nothing else is
 * heeded than the word that it is.
 */
export const forceDetachCommand = ({ metadata, spec }: Volume, node: string): string =>
  isWrittenOnSeveral(spec)
    ? taintOff(node)
    : commandLine('stowage', 'detach', 'volume', metadata.name, '--node', node, '--force');

/**
 * Has a Failed Volume tried again. A new generation does, so what is the default anyway is written into the spec; a
 * Volume that has it all written is made anew.
 */
export function retry(volume: Volume): string[] {
  const { attachPolicy, onDelete } = volume.spec;
  if (attachPolicy == null) return [patchSpec(volume, { attachPolicy: 'Always' })];
  if (onDelete == null) {
    return [patchSpec(volume, { onDelete: onDeleteOf(volume) })];
  }
  return recreate(volume);
}

/**
 * For what can't be changed in a Volume: it can be deleted, and created again from its manifest.
 * @param more flags of its deletion
 */
export const recreate = ({ metadata }: Volume, ...more: readonly string[]): string[] => [
  `${commandLine('kubectl', 'get', 'volume', metadata.name, '-o', 'yaml')} > volume.yaml`,
  commandLine('stowage', 'delete', 'volume', metadata.name, ...more, '--wait'),
  'kubectl create -f volume.yaml',
];
