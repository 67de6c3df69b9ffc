import { type Command, Option } from 'commander';
import { connectFor } from '../globals.ts';
import type { Io } from '../io.ts';
import { nodeNames } from '../nodes/node-pattern.ts';
import { objectNames } from '../parse.ts';
import type { GetFlags, ResourceView } from './resource-view.ts';

/** The command of a kind of `stowage get`. */
export interface GetCommand<T extends object, F extends GetFlags> {
  /** The name, then the aliases. */
  nouns: readonly [string, ...string[]];
  description: string;
  /** Description of the argument for names. */
  names: string;
  /** Parses names. Default: those of objects. */
  parse?(text: string, before?: string[]): string[];
  /** Options of the kind; all kinds have --watch, --no-headers and --output. */
  options?: readonly Option[];
  /** Description of --watch, where it does not follow changes. */
  watch?: string;
  /** Resolves flags when the command runs, in place of the parsed ones. */
  settle?(command: Command): Promise<Partial<F>>;
  /** Loaded when the command runs. */
  view(): Promise<ResourceView<T, F>>;
}

/** Adds the command of a kind, and returns it, for further options. */
export function addGetCommand<T extends object, F extends GetFlags = GetFlags>(
  verb: Command,
  io: Io,
  kind: GetCommand<T, F>,
): Command {
  const [noun, ...aliases] = kind.nouns;
  const command = verb
    .command(noun)
    .aliases(aliases)
    .description(kind.description)
    .argument('[name...]', kind.names, kind.parse ?? objectNames);
  for (const option of kind.options ?? []) command.addOption(option);
  return command
    .option('-w, --watch', kind.watch ?? 'then show each change, until interrupted')
    .option('--no-headers', 'tables without headings')
    .addOption(
      new Option('-o, --output <format>', 'what to print').choices([
        'json',
        'yaml',
        'name',
        'wide',
      ]),
    )
    .action(async (names: string[] | undefined, _flags, command: Command) => {
      const flags = { ...command.optsWithGlobals<F>(), ...(await kind.settle?.(command)) };
      const view = await kind.view();
      const { get } = await import('./get.ts');
      await get(view, names ?? [], flags, io, () => connectFor(command, io));
    });
}

/** Options of several kinds. A command keeps the Option that it is given, so each has its own. */
export const nodeOption = (): Option =>
  new Option('--node <name,...>', 'only those on these nodes; n{1..4} is four').argParser(
    nodeNames,
  );

export const allNamespacesOption = (): Option =>
  new Option('-A, --all-namespaces', 'those of all namespaces');

export const selectorOption = (of = 'with these labels'): Option =>
  new Option('-l, --selector <selector>', `only those ${of}, as for kubectl`);

export const sortOption = (...fields: string[]): Option =>
  new Option('--sort-by <field>', 'the smallest first').choices(fields);
