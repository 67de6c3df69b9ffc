import { messageOf } from '../lib/failure.ts';
import type { Io, Output } from '../lib/io.ts';
import { asJson } from '../lib/output/data.ts';
import { printable } from '../lib/output/printable.ts';
import type { Archive } from './archive.ts';
import { headWithin, listWithin, tailWithin } from './bounds.ts';
import { redact } from './redact/redact.ts';

const MIB = 1 << 20;

/** Maximum bytes of each part. */
export const LIMITS = { objects: 8 * MIB, log: 5 * MIB, metrics: 2 * MIB, report: 5 * MIB };

/** Returns the problem of a part that was cut. `limit` is in bytes. */
export const allBut = (kept: 'first' | 'last', limit: number): string =>
  `all but the ${kept} ${limit / MIB} MiB`;

/** Maximum characters of a problem. */
const LONGEST_PROBLEM = 2000;

/** Parts of an archive. Secrets are removed from each of them. */
export interface Parts {
  /** Adds a text. Cuts its end beyond the limit, in bytes, which is a problem. */
  addText(path: string, text: string, limit: number): Promise<void>;
  /** Adds the end of a text. Cuts what precedes the limit, in bytes, which is a problem. */
  addTail(path: string, text: string, limit: number): Promise<void>;
  addObject(path: string, object: object): Promise<void>;
  /** Adds objects as a list. */
  addList(path: string, objects: readonly object[]): Promise<void>;
  /** Records what is missing in a part, once. */
  problem(path: string, error: unknown): void;
  /** Returns the problems, a line for each. */
  problems(): readonly string[];
}

export function createParts(archive: Pick<Archive, 'add'>): Parts {
  const problems: string[] = [];
  const problem = (path: string, error: unknown): void => {
    const line = redact(`${path}: ${messageOf(error)}`).replace(/\s+/g, ' ');
    const text = printable(line.slice(0, LONGEST_PROBLEM));
    if (!problems.includes(text)) problems.push(text);
  };
  const addHead = (path: string, text: string, limit: number): Promise<void> => {
    if (Buffer.byteLength(text) > limit) problem(path, allBut('first', limit));
    return archive.add(path, headWithin(text, limit));
  };
  return {
    // Cut last: the start of a removed secret would be unknown.
    addText: (path, text, limit) => addHead(path, printable(redact(text)), limit),
    addTail(path, text, limit) {
      const whole = printable(redact(text));
      if (Buffer.byteLength(whole) > limit) problem(path, allBut('last', limit));
      return archive.add(path, tailWithin(whole, limit));
    },
    addObject: (path, object) => addHead(path, asJson(redact(object)), LIMITS.report),
    async addList(path, objects) {
      const items = objects.map((object) => asJson(redact(object)));
      const { text, leftOut } = listWithin(items, LIMITS.objects);
      if (leftOut > 0)
        problem(path, `${leftOut} of ${items.length} objects left out, which exceed the limit`);
      await archive.add(path, text);
    },
    problem,
    problems: () => problems,
  };
}

/** Output of a command that ran for an archive. */
export interface Captured {
  out: string;
  /** Lines on standard error. */
  notes: readonly string[];
  error?: unknown;
}

/** Runs a command within this one, and returns its output. Throws if the signal aborted. */
export async function capture(io: Io, run: (io: Io) => Promise<void>): Promise<Captured> {
  let out = '';
  let err = '';
  const stdout: Output = {
    write(text) {
      out += text;
    },
  };
  const stderr: Output = {
    write(text) {
      err += text;
    },
  };
  // Inherits, since a copy would open standard input.
  const inner: Io = Object.create(io, { stdout: { value: stdout }, stderr: { value: stderr } });
  let failure: { error?: unknown } = {};
  try {
    await run(inner);
  } catch (error) {
    io.signal.throwIfAborted();
    failure = { error };
  }
  const notes = err
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [line.replace(/^note: /, '')]));
  return { out, notes, ...failure };
}
