import type { Command } from 'commander';
import { StowageError } from '../../api/errors.ts';

export const FILE = '-f, --filename <file>';
export const OF_FILE =
  'manifests of Volumes and storage classes, a folder of them, or - for standard input';

/** Several, in their order. */
export const fileNames = (file: string, before: string[] = []): string[] => [...before, file];

/**
 * The command behind a verb without a kind. It is one of its own, because options of the verb itself would be taken
 * from what follows its kinds.
 */
export function addFileOption(verb: Command, name: string): Command {
  verb.addHelpText(
    'after',
    `\nFrom manifests: stowage ${name} -f <file> [options]; see stowage ${name} manifest --help`,
  );
  return (
    verb
      .command('manifest', { isDefault: true })
      .description(`${name} what is in manifests: the same as stowage ${name} -f <file>`)
      .option(FILE, OF_FILE, fileNames)
      // Told apart below.
      .allowExcessArguments()
  );
}

/** The files that were given; else the help of the verb, which came without a kind, or with one that is none. */
export function requireFiles(verb: Command, command: Command): string[] {
  const { filename } = command.opts<{ filename?: string[] }>();
  const [first] = command.args;
  if (filename !== undefined) {
    if (first === undefined) return filename;
    throw new StowageError(
      'usage',
      `--filename and ${JSON.stringify(first)} cannot be given together`,
    );
  }
  if (first === undefined && verb.args.length === 0) return verb.help({ error: true });
  // Without a default command commander does this, with what it takes to have been meant.
  if (first !== undefined && first === verb.args[0])
    Reflect.apply(Reflect.get(verb, 'unknownCommand'), verb, []);
  throw new StowageError('usage', 'Neither a kind nor --filename was given', {
    hint: `Options follow the kind: see stowage ${verb.name()} --help.`,
  });
}
