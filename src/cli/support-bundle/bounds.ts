import { createHash } from 'node:crypto';

/** Returns a line in place of what was cut. */
const cutNote = (where: string): string => `[stowage support-bundle: cut ${where} this line]\n`;

/** Returns the start of a text, up to whole lines in `limit` bytes, and a note if it was cut. */
export function headWithin(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  const kept = bytes.subarray(0, limit);
  const line = kept.lastIndexOf('\n');
  const head = line < 0 ? kept : kept.subarray(0, line);
  return `${head.toString('utf8')}\n${cutNote('after')}`;
}

/** Returns the end of a text, after a note if it was cut. */
export function tailWithin(text: string, limit: number): string {
  const tail = new Tail(limit);
  tail.add(Buffer.from(text));
  return tail.text();
}

/**
 * Returns a list in JSON with as many of the items, in JSON, as `limit` bytes hold, and the number
 * of the others in `leftOut`. An item that is larger than the rest is left out.
 */
export function listWithin(
  items: readonly string[],
  limit: number,
): { text: string; leftOut: number } {
  let bytes = 0;
  const kept = items.filter((item) => {
    const length = Buffer.byteLength(item);
    if (bytes + length > limit) return false;
    bytes += length;
    return true;
  });
  const leftOut = items.length - kept.length;
  const note = leftOut === 0 ? '' : `,\n"leftOut": ${leftOut}`;
  const list = kept.map((item) => item.trimEnd()).join(',\n');
  return { text: `{"apiVersion": "v1", "kind": "List", "items": [\n${list}\n]${note}}\n`, leftOut };
}

const LONGEST_NAME = 80;

/**
 * Returns a name as part of a path in an archive. Names that it changes get a digest, so that they
 * stay apart.
 */
export function fileName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]/g, '_').replace(/^\.+/, '_');
  if (safe === name && safe.length <= LONGEST_NAME) return safe;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${safe.slice(0, LONGEST_NAME - digest.length - 1)}-${digest}`;
}

/** Keeps the end of a text that arrives in parts. */
export class Tail {
  readonly #limit: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #isCut = false;

  /** @param limit bytes that it keeps at least, if there are as many */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(part: Uint8Array): void {
    this.#parts.push(part);
    this.#bytes += part.length;
    for (;;) {
      const length = this.#parts[0]?.length ?? 0;
      if (length === 0 || this.#bytes - length < this.#limit) return;
      this.#parts.shift();
      this.#bytes -= length;
      this.#isCut = true;
    }
  }

  /** True if a part of the text exceeds the limit. */
  get isCut(): boolean {
    return this.#isCut || this.#bytes > this.#limit;
  }

  /** Returns whole lines within the limit, after a note if others came before. */
  text(): string {
    const all = Buffer.concat(this.#parts);
    if (!this.isCut) return all.toString('utf8');
    const kept = all.subarray(Math.max(0, all.length - this.#limit));
    const lines = kept.subarray(kept.indexOf('\n') + 1);
    return `${cutNote('before')}${lines.toString('utf8')}`;
  }
}
