import { StowageError } from '../../../api/errors.ts';
import type { Io } from '../io.ts';
import { printable } from '../output/printable.ts';
import { isInteractive } from './interactive.ts';

export interface Consent {
  /** What will be lost, an object a line. */
  losses: readonly string[];
  question: string;
  /** What is said before the losses where nobody can be asked. Default: that data would be destroyed. */
  refusal?: string;
}

/**
 * Goes on only with consent: `--yes`, or yes typed at a terminal. Throws a StowageError: `usage` where nobody can be
 * asked, `conflict` when the answer is no.
 */
export async function confirm(
  io: Io,
  { losses, question, refusal = 'Data would be destroyed' }: Consent,
  { yes }: { yes?: boolean },
): Promise<void> {
  if (yes || losses.length === 0) return;
  if (!isInteractive(io)) {
    throw new StowageError('usage', `${refusal}: ${losses.join('; ')}`, {
      hint: 'If that is what you want, give --yes.',
    });
  }
  for (const loss of losses) io.stderr.write(`${printable(loss)}\n`);
  const { confirm: ask } = await io.prompts();
  if (!(await ask(question))) throw new StowageError('conflict', 'Not confirmed: nothing was done');
}
