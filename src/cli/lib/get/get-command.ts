import { type Command, InvalidArgumentError, Option } from 'commander';
import { addExamples } from '../examples.ts';
import { connectFor } from '../globals.ts';
import type { Io } from '../io.ts';
import { nodeNames } from '../nodes/node-pattern.ts';
import { objectNames } from '../parse.ts';
import type { KindReader } from './read-kind.ts';
import type { GetFlags, ResourceView } from './resource-view.ts';

/** The command of a kind of `stowage get`. */
export interface GetCommand<T extends object, F extends GetFlags> {
  /** The name, then the aliases. */
  nouns: readonly [string, ...string[]];
  description: string;
  /** Description of the argument for names. */
  names: string;
  examples: readonly string[];
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

/** A kind of `stowage get`, for a command of several kinds. */
export interface GetKind {
  command: Command;
  /** Loads what reads the kind. Flags of the kind have their defaults. */
  load(flags: GetFlags): Promise<KindReader>;
}

/** Adds the command of a kind, and returns the kind. */
export function addGetCommand<T extends object, F extends GetFlags = GetFlags>(
  verb: Command,
  io: Io,
  kind: GetCommand<T, F>,
): GetKind {
  const [noun, ...aliases] = kind.nouns;
  const command = verb
    .command(noun)
    .aliases(aliases)
    .description(kind.description)
    .argument('[name...]', kind.names, kind.parse ?? objectNames);
  const { options = [] } = kind;
  for (const option of options) command.addOption(option);
  // kubectl accepts -A for objects without a namespace, too.
  if (!options.some(({ short }) => short === '-A'))
    command.addOption(allNamespacesOption().hideHelp());
  addExamples(command, kind.examples);
  command.option('-w, --watch', kind.watch ?? 'list, then watch for changes until interrupted');
  addOutputOptions(command).action(
    async (names: string[] | undefined, _flags, command: Command) => {
      const flags = { ...command.optsWithGlobals<F>(), ...(await kind.settle?.(command)) };
      const view = await kind.view();
      const { get } = await import('./get.ts');
      await get(view, names ?? [], flags, io, () => connectFor(command, io));
    },
  );
  return {
    command,
    async load(given) {
      const { readerOf } = await import('./read-kind.ts');
      const settled = await kind.settle?.(command);
      return readerOf(await kind.view(), { ...command.optsWithGlobals<F>(), ...given, ...settled });
    },
  };
}

/** Adds the options for how things are shown. */
export const addOutputOptions = (command: Command): Command =>
  command
    .option('--no-headers', 'print tables without headings')
    .addOption(
      new Option('-o, --output <format>', 'output format, or jsonpath=TEMPLATE as in kubectl')
        .choices(FORMATS)
        .argParser(outputFormat),
    );

const FORMATS = ['json', 'yaml', 'name', 'wide'];

/** Throws an InvalidArgumentError for a format that is neither listed nor a JSONPath template. */
function outputFormat(format: string): string {
  if (FORMATS.includes(format) || /^jsonpath=./s.test(format)) return format;
  throw new InvalidArgumentError(`Allowed choices are ${FORMATS.join(', ')}, jsonpath=TEMPLATE.`);
}

/** Options of several kinds. A command keeps the Option that it is given, so each has its own. */
export const nodeOption = (): Option =>
  new Option('--node <name,...>', "filter by node; 'n{1..4}' stands for four").argParser(nodeNames);

export const allNamespacesOption = (description = 'list objects of all namespaces'): Option =>
  new Option('-A, --all-namespaces', description);

export const selectorOption = (by = 'labels'): Option =>
  new Option('-l, --selector <selector>', `filter by ${by}, as in kubectl: app=db,tier!=cache`);

export const sortOption = (...fields: string[]): Option =>
  new Option('--sort-by <field>', 'sort by this field, in ascending order').choices(fields);
