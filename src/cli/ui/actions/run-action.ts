import { StowageError } from '../../../api/errors.ts';
import type { Connection } from '../../../kube/connect.ts';
import type { ActionError } from '../../../ui/protocol.ts';
import type { Io } from '../../lib/io.ts';
import type { Prompts } from '../../lib/prompts/prompts.ts';
import { dataIn, parsed } from '../command-data.ts';
import { publicLines, publicMessage, publicName } from '../public-text.ts';
import { emptyInput, type Run } from '../run-command.ts';

/** Maximum characters of what a command prints as its result. */
const MOST_OUTPUT = 4 << 20;

export interface RunOptions {
  argv: readonly string[];
  connection: Connection;
  /** Answers of the command's questions. */
  prompts: Prompts;
  /** Ends the command, in addition to the end of `stowage ui`. */
  signal?: AbortSignal;
  /** Called with each line on standard error, but not with the error. */
  onLine(line: string): void;
}

export interface RunResult {
  exitCode: number;
  /** Object that the command printed. */
  object?: { kind: string; name: string };
  /** Printed JSON; undefined if there is none. */
  data: unknown;
  error?: ActionError;
  /** Reason with its parameters, as docs/reasons.md lists it. */
  detail?: { code: string; parameters: Readonly<Record<string, string>> };
}

/**
 * Runs a command with `-o json` in this process. Its questions go to `prompts`, although there is
 * no terminal. Never rejects: failures of the command are in the result.
 */
export async function runAction(run: Run, io: Io, options: RunOptions): Promise<RunResult> {
  const { argv, connection, prompts, onLine } = options;
  let stdout = '';
  let rest = '';
  let error: string | undefined;
  const takeLine = (line: string) => {
    // The error is one line of JSON, and the last one.
    if (line.startsWith('{"code":')) error = line;
    else if (line !== '') onLine(publicMessage(line));
  };
  const signal =
    options.signal === undefined ? io.signal : AbortSignal.any([io.signal, options.signal]);
  let exitCode: number;
  try {
    exitCode = await run(argv, {
      ...io,
      stdin: emptyInput(),
      stdout: {
        write(data) {
          if (stdout.length < MOST_OUTPUT) stdout += String(data);
        },
      },
      stderr: {
        write(text) {
          const lines = `${rest}${text}`.split('\n');
          rest = (lines.pop() ?? '').slice(0, MOST_OUTPUT);
          for (const line of lines) takeLine(line);
        },
      },
      signal,
      onHangup() {},
      connect: async () => connection,
      asksElsewhere: true,
      prompts: async () => prompts,
    });
  } catch (thrown) {
    return { exitCode: 1, data: undefined, error: errorOf({ message: String(thrown) }) };
  }
  takeLine(rest);
  const data = parsed(stdout);
  const failure = parsed(error ?? '');
  const object = objectIn(data);
  return {
    exitCode,
    data,
    ...(object !== undefined && exitCode === 0 && { object }),
    ...(exitCode !== 0 && { error: errorOf(signal.aborted ? ended(signal) : failure) }),
    ...detailIn(failure),
  };
}

/** Returns prompts that only confirm. A question for a value names a field that is missing. */
export function confirmingPrompts(confirm: (question: string) => boolean): Prompts {
  const missing = async (message: string): Promise<never> => {
    throw new StowageError('usage', `a value is missing: ${message}`);
  };
  return { input: missing, select: missing, confirm: async (question) => confirm(question) };
}

const ended = ({ reason }: AbortSignal): object =>
  reason instanceof StowageError
    ? reason
    : { code: 'failed', message: 'stowage ui has ended, and the command with it' };

function errorOf(failure: unknown): ActionError {
  const { code, reason, message, hint } = dataIn(failure);
  return {
    code: publicName(code) || 'failed',
    reason: publicName(reason),
    message: publicMessage(message) || 'the command failed without a message',
    hint: publicLines(hint),
  };
}

function objectIn(data: unknown): RunResult['object'] {
  const { kind, metadata } = dataIn(data);
  const { name, namespace } = dataIn(metadata);
  if (typeof kind !== 'string' || typeof name !== 'string') return undefined;
  const prefix = typeof namespace === 'string' ? `${namespace}/` : '';
  return { kind: publicName(kind), name: publicName(`${prefix}${name}`) };
}

function detailIn(failure: unknown): Pick<RunResult, 'detail'> {
  const { code, parameters } = dataIn(dataIn(failure).detail);
  if (typeof code !== 'string') return {};
  return {
    detail: { code, parameters: dataIn(parameters) as Readonly<Record<string, string>> },
  };
}
