import type { Key } from 'node:readline';
import inquirer from 'inquirer';
import { StowageError } from '../../../api/errors.ts';
import { printable } from '../output/printable.ts';
import { SignalError } from '../signals.ts';
import type { Prompts } from './prompts.ts';

/** Returns prompts on a terminal. `signal` ends a question. */
export function terminalPrompts(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  signal: AbortSignal,
): Prompts {
  const ask = async (question: object): Promise<unknown> => {
    const ended = endOf(input);
    const prompt = inquirer.createPromptModule({
      input,
      output,
      signal: AbortSignal.any([signal, ended.signal]),
    });
    try {
      return (await prompt<{ answer: unknown }>({ ...question, name: 'answer' } as never)).answer;
    } catch (error) {
      // A terminal in raw mode sends no signal for Ctrl-C.
      if (isNamed(error, 'ExitPromptError')) throw new SignalError('SIGINT');
      throw ended.signal.aborted ? ended.signal.reason : error;
    } finally {
      ended.forget();
    }
  };
  return {
    input: (message, problem) =>
      ask({
        type: 'input',
        message: printable(message),
        validate: (answer: string) => problem(answer.trim()) ?? true,
        filter: (answer: string) => answer.trim(),
      }) as Promise<string>,
    select: (message, choices) =>
      ask({
        type: 'select',
        pageSize: 15,
        // Without a loop, the end of a list is visible.
        loop: false,
        message: printable(message),
        choices: choices.map(({ name, value, disabled }) => ({
          name: printable(name),
          value,
          // Shown after the name.
          ...(disabled !== undefined && { disabled: `(${printable(disabled)})` }),
        })),
      }) as Promise<string>,
    confirm: (message) =>
      ask({ type: 'confirm', message: printable(message), default: false }) as Promise<boolean>,
  };
}

/** Aborts at Ctrl-D, and if the terminal is gone: inquirer would then wait forever. */
function endOf(input: NodeJS.ReadStream): { signal: AbortSignal; forget(): void } {
  const aborter = new AbortController();
  const end = () =>
    aborter.abort(
      new StowageError('failed', 'No answer was given: nothing was done', {
        hint: 'Answer the question, or set the flags that replace it: see --help.',
      }),
    );
  const onKey = (_text: string | undefined, key: Key | undefined) => {
    if (key?.ctrl && key.name === 'd') end();
  };
  input.on('keypress', onKey).on('end', end);
  // The input has ended already, as after typed manifests.
  if (!input.readable) end();
  return {
    signal: aborter.signal,
    forget: () => void input.off('keypress', onKey).off('end', end),
  };
}

const isNamed = (error: unknown, name: string): boolean =>
  error instanceof Error && error.name === name;
