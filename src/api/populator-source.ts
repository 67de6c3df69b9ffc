import { isDnsSubdomain } from './dns-name.ts';
import { BUILTINS } from './populator.ts';
import type { PopulatorSource } from './volume.ts';

/** Pattern of a single word in a command on the node. */
const WORD = /^[!-~]{1,4096}$/;

/**
 * Returns the problems of a populator source, as parts of a sentence about a Volume's spec. Pure.
 */
export function populatorProblems(source: Partial<PopulatorSource> | undefined): string[] {
  const { builtin, namespace = '', name = '', options = {} } = source ?? {};
  if (builtin === undefined || !BUILTINS.includes(builtin)) {
    return [
      `spec.source.populator.builtin is ${JSON.stringify(builtin)}, but must be one of ${BUILTINS.join(', ')}`,
    ];
  }
  if (!isDnsSubdomain(namespace) || !isDnsSubdomain(name)) {
    return ['spec.source.populator must have the namespace and the name of an object'];
  }
  const odd = Object.entries(options).find(
    ([key, value]) => !/^[A-Za-z0-9]+$/.test(key) || typeof value !== 'string' || !WORD.test(value),
  );
  return odd === undefined
    ? []
    : [
        `spec.source.populator.options.${odd[0]} is ${JSON.stringify(odd[1])}, but must be printable ASCII without spaces`,
      ];
}

/** Formats a source for people: `Image prod/debian`. */
export const populatorText = ({ builtin, namespace, name }: PopulatorSource): string =>
  `${builtin} ${namespace}/${name}`;
