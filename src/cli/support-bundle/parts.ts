import { messageOf } from '../lib/failure.ts';
import type { Io, Output } from '../lib/io.ts';
import { asJson } from '../lib/output/data.ts';
import { printable } from '../lib/output/printable.ts';
import type { Archive } from './archive.ts';
import { headWithin, listWithin } from './bounds.ts';
import { redact } from './redact/redact.ts';

const MIB = 1 << 20;

/** Maximum bytes of each part. */
export const LIMITS = { objects: 8 * MIB, log: 5 * MIB, metrics: 2 * MIB, report: 5 * MIB };

/** Maximum characters of a problem. */
const LONGEST_PROBLEM = 2000;

/** Parts of an archive. Secrets are removed from each of them. */
export interface Parts {
  /** @param within cuts what exceeds the limit, in bytes; by default, the end of the text */
  addText(
    path: string,
    text: string,
    limit: number,
    within?: (text: string, limit: number) => string,
  ): Promise<void>;
  addObject(path: string, object: object): Promise<void>;
  /** Adds objects as a list. */
  addList(path: string, objects: readonly object[]): Promise<void>;
  /** Records what is missing in a part. */
  problem(path: string, error: unknown): void;
  /** Returns the problems, a line for each. */
  problems(): readonly string[];
}

export function createParts(archive: Pick<Archive, 'add'>): Parts {
  const problems: string[] = [];
  const problem = (path: string, error: unknown): void => {
    const line = redact(`${path}: ${messageOf(error)}`).replace(/\s+/g, ' ');
    problems.push(printable(line.slice(0, LONGEST_PROBLEM)));
  };
  return {
    addText: (path, text, limit, within = headWithin) =>
      // Cut last: the start of a removed secret would be unknown.
      archive.add(path, within(printable(redact(text)), limit)),
    addObject: (path, object) =>
      archive.add(path, headWithin(asJson(redact(object)), LIMITS.report)),
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
