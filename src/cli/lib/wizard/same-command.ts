import { commandLine } from '../command-line.ts';
import type { GlobalFlags } from '../globals.ts';
import { type CreateFlags, WAIT_MS, type WaitFlags } from '../objects/flags.ts';

/** Values by option as written, one or several; `true` for an option without a value. */
export type Given = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

export type SameFlags = GlobalFlags & Partial<Pick<CreateFlags, 'output'> & WaitFlags>;

/** Returns the command with the same answers, each of which stays one argument in a shell. */
export function sameCommand(words: readonly string[], given: Given, flags: SameFlags): string {
  const { output, wait, timeout, kubeconfig, context, namespace, as } = flags;
  const isOther = wait && timeout !== undefined && timeout !== WAIT_MS;
  const all: Given = {
    ...given,
    '--output': output,
    '--wait': wait,
    '--timeout': isOther ? `${timeout}ms` : undefined,
    '--kubeconfig': kubeconfig,
    '--context': context,
    '--namespace': namespace,
    '--as': as,
  };
  return commandLine(
    'stowage',
    ...words,
    ...Object.entries(all).flatMap(([name, value]) => option(name, value)),
  );
}

/** Returns an option as arguments of a command line; none if it is not given. */
export function option(name: string, value: Given[string]): string[] {
  if (value === undefined || value === false) return [];
  if (value === true) return [name];
  // A value that begins with a hyphen would be taken for an option.
  return [value]
    .flat()
    .flatMap((each) => (each.startsWith('-') ? [`${name}=${each}`] : [name, each]));
}
