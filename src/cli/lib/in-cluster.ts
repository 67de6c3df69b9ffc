import { commandLine } from './command-line.ts';
import type { GlobalFlags } from './globals.ts';
import { option } from './wizard/same-command.ts';

/** What talks to a cluster, where a command begins: all else is run elsewhere. */
const FIRST = /^(?:kubectl|stowage)(?= )/;
const EACH = /(?<=^|; )(?:kubectl|stowage)(?= )/g;

/**
 * Has a command that is printed talk to the cluster that was asked: in the one that the shell means otherwise an object of the same
 * name would be deleted or changed. As whom is left to whoever runs it. Pure.
 */
export function inCluster({ kubeconfig, context }: GlobalFlags): (line: string) => string {
  const given = [...option('--kubeconfig', kubeconfig), ...option('--context', context)];
  if (given.length === 0) return (line) => line;
  // Within quotes it is no command that begins.
  return (line) =>
    line.replace(
      line.includes("'") ? FIRST : EACH,
      (program) => `${program} ${commandLine(...given)}`,
    );
}
