import { execa } from 'execa';

/** What is typed once the text before it is on the terminal, or what is done then. */
export type Typed = readonly [shown: string, text: string | ((shown: string) => void)];

export interface OnTerminal {
  env: Record<string, string>;
  columns?: number;
  rows?: number;
  /** It is ended after that. */
  timeoutMs?: number;
}

/**
 * Runs a command of sh on a terminal of its own (script(1)), and types each text, or does what it says, once the one before it is
 * shown. Resolves with the exit status and with all that was shown when the command has ended.
 */
export async function onTerminal(
  command: string,
  typed: readonly Typed[],
  { env, columns = 80, rows = 24, timeoutMs = 120_000 }: OnTerminal,
): Promise<{ exitCode: number | undefined; shown: string }> {
  const sized = `stty cols ${columns} rows ${rows}; exec ${command}`;
  const terminal = execa('script', ['-qec', sized, '/dev/null'], {
    env: { TERM: 'xterm', ...env },
    reject: false,
    timeout: timeoutMs,
  });
  const left = [...typed];
  let shown = '';
  let since = '';
  for await (const chunk of terminal.iterable({ from: 'stdout', binary: true })) {
    shown += Buffer.from(chunk).toString();
    since += Buffer.from(chunk).toString();
    if (!left[0] || !since.includes(left[0][0])) continue;
    const next = left.shift()?.[1] ?? '';
    if (typeof next === 'string') terminal.stdin.write(next);
    else next(shown);
    since = '';
  }
  return { exitCode: (await terminal).exitCode, shown };
}
