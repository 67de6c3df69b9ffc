import { commandLine } from './command-line.ts';
import type { GlobalFlags } from './globals.ts';
import { option } from './wizard/same-command.ts';

/** Flags of a run that choose its cluster. */
export type ClusterFlags = Pick<GlobalFlags, 'kubeconfig' | 'context' | 'namespace'>;

/**
 * Matches quoted words, and programs that talk to a cluster at the start of a command, also after a
 * semicolon or a pipe. All other commands run elsewhere.
 */
const IN_LINE = /'[^']*'|\\'|(?<=^|[;|] )(?:kubectl|stowage)(?= )/g;

/**
 * Returns a function that adds the kubeconfig and context of this run to a printed command. In the
 * shell's own cluster, another object of the same name would be deleted or changed. Impersonation
 * is left to the person who runs the command. Pure.
 */
export function inCluster({ kubeconfig, context }: ClusterFlags): (line: string) => string {
  const given = [...option('--kubeconfig', kubeconfig), ...option('--context', context)];
  if (given.length === 0) return (line) => line;
  const flags = commandLine(...given);
  return (line) =>
    line.replace(IN_LINE, (found) => (isQuoted(found) ? found : `${found} ${flags}`));
}

/**
 * Matches quoted words, and programs at the start of a command: in a hint, it follows a colon or,
 * after another command, a semicolon or a pipe. An apostrophe within a word starts no quoted word.
 */
const IN_HINT = /(?<!\w)'[^']*'|\\'|(?<=[:;|] )(?:kubectl|stowage)(?= [-a-z])/g;

const isQuoted = (found: string): boolean => !/^\w/.test(found);

/**
 * Returns a function that does the same for the commands in a hint. They name the namespaces of
 * objects, but not that of an installation: it is added in errors of `verb` install or uninstall.
 * Pure.
 */
export function hintInCluster(
  { namespace, ...flags }: ClusterFlags,
  verb?: string,
): (hint: string) => string {
  const add = inCluster(flags);
  const installs = verb === 'install' || verb === 'uninstall';
  return (hint) =>
    hint.replace(IN_HINT, (found, at: number) => {
      if (isQuoted(found)) return found;
      const rest = hint.slice(at + found.length);
      const named = installs && /^ (?:un)?install\b(?! -n )/.test(rest);
      return [add(`${found} `).trimEnd(), ...option('-n', named ? namespace : undefined)].join(' ');
    });
}
