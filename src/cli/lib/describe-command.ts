import type { Command } from 'commander';
import type { Resource } from '../../api/meta.ts';
import type { Connection } from '../../kube/connect.ts';
import { about, conclude } from './batch.ts';
import type { DescribeFlags } from './describe-listed.ts';
import { addExamples } from './examples.ts';
import { codeOf } from './failure.ts';
import { allNamespacesOption, selectorOption } from './get/get-command.ts';
import { refuseFilters } from './get/refuse-filters.ts';
import { connectFor } from './globals.ts';
import type { Io } from './io.ts';
import { type NamespacedName, namespacedNames, objectNames } from './parse.ts';

/** Returns the description of an object. Throws a StowageError. */
export type Describe = (name: NamespacedName, io: Io, connection: Connection) => Promise<string>;

/** The command of a kind of `stowage describe`. */
export interface DescribeCommand {
  resource: Resource;
  /** The name, then the aliases. */
  nouns: readonly [string, ...string[]];
  description: string;
  /** Description of the argument. */
  names: string;
  examples: readonly string[];
  /** Loaded when the command runs. */
  load(): Promise<Describe>;
}

/** Adds the command of a kind. */
export function addDescribeCommand(verb: Command, io: Io, kind: DescribeCommand): void {
  const { resource } = kind;
  const [noun, ...aliases] = kind.nouns;
  const command = verb.command(noun).aliases(aliases).description(kind.description);
  const names = `${kind.names} (default: all)`;
  if (resource.namespaced) command.argument('[name...]', names, namespacedNames);
  else command.argument('[name...]', names, objectNames);
  const all = allNamespacesOption('describe objects of all namespaces');
  command
    .addOption(selectorOption())
    // kubectl accepts -A for objects without a namespace, too.
    .addOption(resource.namespaced ? all : all.hideHelp())
    .action(async (given: (string | NamespacedName)[], _flags, command: Command) => {
      const flags = command.optsWithGlobals<DescribeFlags>();
      const named = given.map((each) => (typeof each === 'string' ? { name: each } : each));
      if (named.length > 0)
        refuseFilters(resource.namespaced ? ['selector', 'allNamespaces'] : ['selector'], flags);
      const describe = await kind.load();
      const connection = await connectFor(command, io);
      await describeAll(named, describe, kind, flags, io, connection);
    });
  addExamples(command, kind.examples);
}

/** Prints the descriptions of the named objects, else of those that the flags select. */
async function describeAll(
  named: readonly NamespacedName[],
  describe: Describe,
  { resource }: DescribeCommand,
  flags: DescribeFlags,
  io: Io,
  connection: Connection,
): Promise<void> {
  const names =
    named.length > 0
      ? named
      : await (await import('./describe-listed.ts')).listNames(resource, flags, io, connection);
  if (names.length === 0) io.stderr.write(`No ${resource.plural} found\n`);
  const errors: unknown[] = [];
  let printed = 0;
  for (const name of names) {
    try {
      const text = await describe(name, io, connection);
      io.stdout.write(printed === 0 ? text : `\n${text}`);
      printed += 1;
    } catch (error) {
      if (io.signal.aborted) throw error;
      // Others may delete what was listed.
      if (named.length === 0 && codeOf(error) === 'not-found') continue;
      const namespace = resource.namespaced ? { namespace: connection.namespace } : {};
      errors.push(about(error, { kind: resource.kind, ...namespace, ...name }));
    }
  }
  conclude(errors, names.length, io);
}
