import type { Command } from 'commander';
import { StowageError } from '../../api/errors.ts';

export const FILE = '-f, --filename <file>';
export const OF_FILE =
  'manifest of Volumes and storage classes, a directory of manifests, or - for standard input';

/** Collects the files of a repeated option, in order. */
export const fileNames = (file: string, before: string[] = []): string[] => [...before, file];

/**
 * Adds the command that a verb runs without a kind. A separate command is necessary: the verb would
 * take its own options from the arguments of its kinds.
 */
export function addFileOption(verb: Command, name: string): Command {
  verb.addHelpText(
    'after',
    `\nFrom manifests: stowage ${name} -f <file> (see stowage ${name} manifest --help)`,
  );
  return (
    verb
      .command('manifest', { isDefault: true })
      .description(`${name} the objects in manifests: the same as stowage ${name} -f <file>`)
      .option(FILE, OF_FILE, fileNames)
      // requireFiles reports excess arguments.
      .allowExcessArguments()
  );
}

/** Returns the given files. Without any, shows the verb's help, or fails for an unknown kind. */
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
  // Reports an unknown kind with suggestions, as commander does without a default command.
  if (first !== undefined && first === verb.args[0])
    Reflect.apply(Reflect.get(verb, 'unknownCommand'), verb, []);
  throw new StowageError('usage', 'A kind or --filename is required', {
    hint: `Options follow the kind: see stowage ${verb.name()} --help.`,
  });
}
