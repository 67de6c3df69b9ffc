import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { ResultPromise } from 'execa';
import { refuse } from '../api/reasons.ts';
import { type NodeError, nodeError } from './errors.ts';

/**
 * Maximum size (bytes) of a node's answer: what ten thousand devices take. The daemon has 512 MiB
 * for all nodes, and JSON can grow to thirty times its size when it is parsed.
 */
export const ANSWER_LIMIT = 4 << 20;

/**
 * Maximum bytes kept of the standard error of ssh or sh, of which a message quotes a line or two.
 */
const ERRORS_LIMIT = 64 << 10;

export function answerTooLong(node: string): NodeError {
  return nodeError('protocol', node, refuse('AnswerTooLong', { node, limit: ANSWER_LIMIT >> 20 }));
}

/**
 * Turns of the event loop in which all output of an ended program is read: each turn reads what the
 * kernel holds, and it holds a few hundred kilobytes.
 */
const TURNS_TO_READ = 100;

/**
 * Waits for a program that answers for a node and was started with `buffer: false`, because execa's
 * errors hold all output several times over. Kills a program that prints more than ANSWER_LIMIT.
 * `stdout`: one character for each byte; undefined if the program was killed.
 */
export async function endOf<Options extends { buffer: false }>(program: ResultPromise<Options>) {
  program.nodeChildProcess.once('exit', () => void closeOnceRead(program.stdout, program.stderr));
  const [stdout, stderr, result] = await Promise.all([
    read(program.stdout as Readable, ANSWER_LIMIT, () => program.kill('SIGKILL')),
    read(program.stderr as Readable, ERRORS_LIMIT, () => {}),
    program,
  ]);
  return {
    result,
    stdout: stdout.whole ? stdout.bytes.toString('latin1') : undefined,
    stderr: stderr.bytes.toString('utf8'),
  };
}

/**
 * Closes the output of a program that has ended, once all of it is read. A process that it left
 * behind may keep the output open: the shared connection of OpenSSH before 8.8 keeps the standard
 * error of the ssh that started it.
 */
async function closeOnceRead(...streams: (Readable | null)[]): Promise<void> {
  for (let count = 0; count < TURNS_TO_READ; count++) await turn();
  for (const stream of streams) stream?.destroy();
}

/**
 * Reads a stream to its end, and keeps `limit` bytes of it. `onMore` is called once, if there are
 * more. Never throws.
 */
async function read(
  stream: Readable,
  limit: number,
  onMore: () => void,
): Promise<{ bytes: Buffer; whole: boolean }> {
  const chunks: Buffer[] = [];
  let room = limit;
  let whole = true;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (room > 0) chunks.push(chunk.subarray(0, room));
      room -= chunk.length;
      if (room >= 0 || !whole) continue;
      whole = false;
      onMore();
    }
  } catch {
    // The program's exit shows why.
  }
  return { bytes: Buffer.concat(chunks), whole };
}
