import { StowageError } from '../../../api/errors.ts';
import type { Io } from '../io.ts';
import { printable } from '../output/printable.ts';
import { isInteractive } from './interactive.ts';

export interface Consent {
  /** Expected losses, one line per object. */
  losses: readonly string[];
  question: string;
  /** Text before the losses if nobody can be asked. Default: that data would be destroyed. */
  refusal?: string;
}

/**
 * Requires consent: `--yes`, or yes typed at a terminal. Throws a StowageError: `usage` if nobody
 * can be asked, `conflict` if the answer is no.
 */
export async function confirm(
  io: Io,
  { losses, question, refusal = 'Data would be destroyed' }: Consent,
  { yes }: { yes?: boolean },
): Promise<void> {
  if (yes || losses.length === 0) return;
  if (!isInteractive(io)) {
    throw new StowageError('usage', `${refusal}: ${losses.join('; ')}`, {
      hint: 'To confirm, add --yes.',
    });
  }
  for (const loss of losses) io.stderr.write(`${printable(loss)}\n`);
  const { confirm: ask } = await io.prompts();
  if (!(await ask(question))) throw new StowageError('conflict', 'Not confirmed: nothing was done');
}
