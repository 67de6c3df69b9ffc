import type { ErrorCode } from '../../api/errors.ts';
import { StowageError } from '../../api/errors.ts';
import { EXIT } from '../lib/failure.ts';
import { publicMessage } from './public-text.ts';
import type { CommandResult } from './run-command.ts';

/** Data that a command printed as JSON, of which nothing is known yet. */
export type Data = Readonly<Record<string, unknown>>;

export const isData = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const dataIn = (value: unknown): Data => (isData(value) ? value : {});
export const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Returns what a command printed as JSON; undefined if it printed none. */
export function parsed(stdout: string): unknown {
  try {
    return JSON.parse(stdout);
  } catch {
    return undefined;
  }
}

/** Returns the reason why a command printed no data, with the hint of its error. */
export function failureIn({ stderr }: CommandResult): string {
  const data = dataIn(parsed(stderr.trim().split('\n').at(-1) ?? ''));
  const { error, message, hint } = data;
  const text = [message, error, dataIn(error).message].find((each) => typeof each === 'string');
  if (text === undefined) return publicMessage(stderr.trim()) || 'the command printed nothing';
  return publicMessage(typeof hint === 'string' ? `${text}. ${hint}` : text);
}

/** Returns the error of a command that printed no data, with the code of its exit status. */
export function errorIn(result: CommandResult): StowageError {
  const [code = 'failed'] =
    Object.entries(EXIT).find(([, status]) => status === result.exitCode) ?? [];
  return new StowageError(code as ErrorCode, failureIn(result));
}

const NOTE = 'note: ';

/** Returns the notes of a command, one a line. */
export const notesIn = ({ stderr }: Pick<CommandResult, 'stderr'>): string =>
  publicMessage(
    stderr
      .split('\n')
      .filter((line) => line.startsWith(NOTE))
      .map((line) => line.slice(NOTE.length))
      .join('\n'),
  );
