import type { Readable } from 'node:stream';
import type { ResultPromise } from 'execa';
import { refuse } from '../api/reasons.ts';
import { type NodeError, nodeError } from './errors.ts';

/**
 * Most bytes of one answer of a node: what ten thousand devices take. The daemon has 512 MiB for all nodes, and JSON can grow
 * to thirty times its size when it is read.
 */
export const ANSWER_LIMIT = 4 << 20;

/** Bytes that are kept of what ssh or sh print on standard error, of which a message quotes a line or two. */
const ERRORS_LIMIT = 64 << 10;

export function answerTooLong(node: string): NodeError {
  return nodeError('protocol', node, refuse('AnswerTooLong', { node, limit: ANSWER_LIMIT >> 20 }));
}

/**
 * Waits for a program that answers for a node and was started with `buffer: false`: the errors that execa makes hold all output
 * several times over. A program that prints more than ANSWER_LIMIT is killed. `stdout`: a character for each byte; undefined
 * where it was killed.
 */
export async function endOf<Options extends { buffer: false }>(program: ResultPromise<Options>) {
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

/** Reads a stream to its end, and keeps `limit` bytes of it. `onMore` is called once, when there are more. Never throws. */
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
    // The program's end tells why.
  }
  return { bytes: Buffer.concat(chunks), whole };
}
