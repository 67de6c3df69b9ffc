import { StowageError } from '../../../api/errors.ts';
import type { Io } from '../io.ts';
import { printable } from '../output/printable.ts';

/** Outcome of the answers, to be confirmed. */
export interface Summary {
  /** Sections, each of a heading and its lines. */
  sections: readonly (readonly [heading: string, text: string])[];
  /** Command that would have done the same. */
  command: string;
}

/** Shows on standard error what is about to be done. */
export function showSummary({ sections, command }: Summary, io: Io): void {
  for (const [heading, text] of sections) {
    io.stderr.write(`\n${printable(`${heading}:\n${indented(text.trimEnd())}`)}\n`);
  }
  // Not indented: a line break is inside an argument, which must not change.
  io.stderr.write(`\nEquivalent command:\n  ${printable(command)}\n\n`);
}

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

/** Asks for confirmation. Throws a StowageError `conflict` if the answer is no. */
export async function confirmSummary(question: string, io: Io): Promise<void> {
  const { confirm } = await io.prompts();
  if (!(await confirm(question)))
    throw new StowageError('conflict', 'Not confirmed: nothing was done');
}
