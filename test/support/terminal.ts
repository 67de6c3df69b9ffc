import { execa } from 'execa';

/** Text to type, or function to call, once the first text is on the terminal. */
export type Typed = readonly [shown: string, text: string | ((shown: string) => void)];

export interface OnTerminal {
  env: Record<string, string>;
  columns?: number;
  rows?: number;
  /** Timeout (ms) of the command. */
  timeoutMs?: number;
}

/**
 * Runs a command of sh on its own terminal (script(1)). Types each text, or calls the function,
 * once the text before it is shown.
 * @returns the exit status and all that was shown
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
