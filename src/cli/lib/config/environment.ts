import { type Command, InvalidArgumentError } from 'commander';

/**
 * Takes what was not given by flag from `$STOWAGE_…`, for flags that take a value, the global ones included: `--ssh-config` is
 * `$STOWAGE_SSH_CONFIG`. Ends the command, as wrong
 * usage, for a value that the flag would refuse. `names`, in the way of option.attributeName(), are of the flags that the
 * environment can give; default: all.
 */
export function applyEnvironment(
  command: Command,
  env: Readonly<Record<string, string | undefined>>,
  names?: readonly string[],
): void {
  if (command.parent) applyEnvironment(command.parent, env, names);
  for (const option of command.options) {
    if (!option.required && !option.optional) continue;
    if (names?.includes(option.attributeName()) === false) continue;
    const variable = `STOWAGE_${option.long?.slice(2).toUpperCase().replaceAll('-', '_')}`;
    const text = env[variable];
    const name = option.attributeName();
    if (text === undefined || text === '' || command.getOptionValueSource(name) === 'cli') continue;
    try {
      const value = option.parseArg ? option.parseArg(text, undefined) : text;
      command.setOptionValueWithSource(name, value, 'env');
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      command.error(
        `error: $${variable} '${text}' is invalid for ${option.long}. ${error.message}`,
      );
    }
  }
}
