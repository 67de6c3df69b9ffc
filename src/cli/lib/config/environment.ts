import { type Command, InvalidArgumentError } from 'commander';

/**
 * Sets options that have no flag on the command line from `$STOWAGE_…`: `--ssh-config` from
 * `$STOWAGE_SSH_CONFIG`. Applies to all options with a value, global ones included. Ends the
 * command, as wrong usage, for an invalid value.
 * @param names attribute names of the options that the environment can set; default: all
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
