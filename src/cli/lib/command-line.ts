import { isWrittenOnSeveral } from '../../api/access-modes.ts';
import { OUT_OF_SERVICE_TAINT } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import { taintCommand } from '../../model/node-death.ts';
import { commandText } from '../../nodes/quote.ts';

/** Formats a command to paste into a shell. Quotes names from the cluster, which are untrusted. */
export const commandLine = commandText;

/**
 * Formats a command to run on a node: ssh joins its arguments, and the remote shell parses that.
 */
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

/** Returns the command that requests a size in a claim. `size`: a quantity. */
export const requestSize = (namespace: string | undefined, name: string, size: string): string =>
  commandLine(
    ...['kubectl', 'patch', 'pvc', name],
    ...(namespace === undefined ? [] : ['-n', namespace]),
    ...['--type', 'merge', '-p'],
    JSON.stringify({ spec: { resources: { requests: { storage: size } } } }),
  );

/**
 * Returns the command that removes finalizers from an object, if each is still at its place.
 * Finalizers that others add meanwhile stay.
 * @param all finalizers of the object, in its order
 */
export function takeOff(
  object: readonly string[],
  all: readonly string[],
  off: readonly string[],
): string {
  const patch = all
    .map((value, at) => ({ value, path: `/metadata/finalizers/${at}` }))
    .filter(({ value }) => off.includes(value))
    // From the last one on, so that the places of the others do not shift.
    .toReversed()
    .flatMap(({ value, path }) => [
      { op: 'test', path, value },
      { op: 'remove', path },
    ]);
  return commandLine('kubectl', 'patch', ...object, '--type', 'json', '-p', JSON.stringify(patch));
}

/** Returns the command that removes the taint from a node that is in service again. */
export const untaint = (node: string): string =>
  commandLine('kubectl', 'taint', 'node', node, `${OUT_OF_SERVICE_TAINT}-`);

/**
 * Returns the command that force-detaches a Volume from a dead node that is switched off. If other
 * nodes share its directory, only the out-of-service taint is accepted.
 */
export const forceDetachCommand = ({ metadata, spec }: Volume, node: string): string =>
  isWrittenOnSeveral(spec)
    ? taintCommand(node)
    : commandLine('stowage', 'detach', 'volume', metadata.name, '--node', node, '--force');

/** Returns the command that retries a failed Volume. */
export const retry = ({ metadata }: Volume): string[] => [
  commandLine('stowage', 'retry', 'volume', metadata.name),
];

/**
 * Returns the commands that delete a Volume and create it again from its manifest, for fields that
 * cannot be changed.
 * @param more flags for the deletion
 */
export const recreate = ({ metadata }: Volume, ...more: readonly string[]): string[] => [
  `${commandLine('kubectl', 'get', 'volume', metadata.name, '-o', 'yaml')} > volume.yaml`,
  commandLine('stowage', 'delete', 'volume', metadata.name, ...more, '--wait'),
  'kubectl create -f volume.yaml',
];
