import { commandLine } from '../command-line.ts';
import type { GlobalFlags } from '../globals.ts';
import { type CreateFlags, WAIT_MS, type WaitFlags } from '../objects/flags.ts';

/** By how options are written: their values, one each time; `true` of those that have none. */
export type Given = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** What commands with questions have in common. */
export type SameFlags = GlobalFlags & Partial<Pick<CreateFlags, 'output'> & WaitFlags>;

/** The command that does without questions what was answered, for a shell: names and answers stay one word each. */
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

/** An option as words of a command line; none where it is not given. */
export function option(name: string, value: Given[string]): string[] {
  if (value === undefined || value === false) return [];
  if (value === true) return [name];
  // One that begins with a hyphen would be taken for an option.
  return [value]
    .flat()
    .flatMap((each) => (each.startsWith('-') ? [`${name}=${each}`] : [name, each]));
}
