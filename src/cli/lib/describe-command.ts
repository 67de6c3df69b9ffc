import type { Command } from 'commander';
import type { Resource } from '../../api/meta.ts';
import type { Connection } from '../../kube/connect.ts';
import { about, conclude } from './batch.ts';
import { addExamples } from './examples.ts';
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
  if (resource.namespaced) command.argument('<name...>', kind.names, namespacedNames);
  else command.argument('<name...>', kind.names, objectNames);
  command.action(async (given: (string | NamespacedName)[], _flags, command: Command) => {
    const names = given.map((each) => (typeof each === 'string' ? { name: each } : each));
    const describe = await kind.load();
    const connection = await connectFor(command, io);
    const errors: unknown[] = [];
    let printed = 0;
    for (const name of names) {
      try {
        const text = await describe(name, io, connection);
        io.stdout.write(printed === 0 ? text : `\n${text}`);
        printed += 1;
      } catch (error) {
        if (io.signal.aborted) throw error;
        const namespace = resource.namespaced ? { namespace: connection.namespace } : {};
        errors.push(about(error, { kind: resource.kind, ...namespace, ...name }));
      }
    }
    conclude(errors, names.length, io);
  });
  addExamples(command, kind.examples);
}
