import type { Command } from 'commander';
import { selectControllers } from '../../api/controllers.ts';
import { StowageError } from '../../api/errors.ts';
import { readValues, VALUE_NAMES, type Values } from './values.ts';

/**
 * Returns the settings that a run of `stowage install` gives: its file, overridden by its flags.
 * Ignores the environment, whose settings for nodes are of this machine. Throws a StowageError for
 * unreadable or invalid settings.
 * @param file value of --values
 * @param but flags with another meaning here
 */
export async function valuesFromFlags(
  command: Command,
  file: string | undefined,
  but: readonly string[] = [],
): Promise<Values> {
  const isGiven = (name: string) =>
    !but.includes(name) && command.getOptionValueSource(name) === 'cli';
  const flags = Object.fromEntries(
    VALUE_NAMES.filter(isGiven).map((name) => [name, command.getOptionValue(name)]),
  );
  if (flags.transport === 'local') {
    throw new StowageError(
      'usage',
      '--transport local is not for an installed daemon: its pod is not a node',
      {
        hint: 'Run the daemon on the node itself: stowage watch --transport local --local-node NAME',
      },
    );
  }
  const values: Values = { ...(file === undefined ? {} : await readValues(file)), ...flags };
  if (values.controllers !== undefined) selectControllers(values.controllers);
  return values;
}
