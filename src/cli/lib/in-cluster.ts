import { commandLine } from './command-line.ts';
import type { GlobalFlags } from './globals.ts';
import { option } from './wizard/same-command.ts';

/** Programs that talk to a cluster, at the start of a command. All other commands run elsewhere. */
const FIRST = /^(?:kubectl|stowage)(?= )/;
const EACH = /(?<=^|; )(?:kubectl|stowage)(?= )/g;

/**
 * Returns a function that adds the kubeconfig and context of this run to a printed command. In the
 * shell's own cluster, another object of the same name would be deleted or changed. Impersonation
 * is left to the person who runs the command. Pure.
 */
export function inCluster({ kubeconfig, context }: GlobalFlags): (line: string) => string {
  const given = [...option('--kubeconfig', kubeconfig), ...option('--context', context)];
  if (given.length === 0) return (line) => line;
  // A program within quotes does not start a command.
  return (line) =>
    line.replace(
      line.includes("'") ? FIRST : EACH,
      (program) => `${program} ${commandLine(...given)}`,
    );
}
