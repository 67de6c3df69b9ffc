/**
 * Last line of an answer of a node's shell: an answer without it was cut off and proves nothing.
 */
export const END = 'stowage-end';

/** Maximum bytes of a line: that of a refused program, in base64, is the longest. */
const LONGEST_LINE = 1 << 20;

/** Maximum number of fields in a line; a refusal of sudo has five. */
const MOST_FIELDS = 8;

/**
 * Reader of a record in an answer: lines and counted texts (scripts/answer.sh). Throws RangeError
 * if one is missing.
 */
export interface RecordReader {
  /** Returns the fields of the next line. */
  fields(): string[];
  /** Returns the next text: its number of bytes on a line, then the text and a newline. */
  text(): string;
}

/**
 * Returns the records of an answer, each read by `read`.
 * @param answer one character for each byte
 * @throws RangeError for an answer that was cut off or has more than `most` records, before those
 * are parsed
 */
export function readRecords<T>(
  answer: string,
  most: number,
  read: (reader: RecordReader, index: number) => T,
): T[] {
  if (answer !== `${END}\n` && !answer.endsWith(`\n${END}\n`)) {
    throw new RangeError('the answer was cut off');
  }
  const end = answer.length - END.length - 1;
  let at = 0;

  function line(): string {
    const newline = answer.indexOf('\n', at);
    if (at >= end || newline - at > LONGEST_LINE) throw new RangeError('a line is missing');
    const found = answer.slice(at, newline);
    at = newline + 1;
    return found;
  }

  function text(): string {
    const size = line();
    const from = at;
    if (!/^\d{1,9}$/.test(size)) throw new RangeError(`not a number of bytes: ${size}`);
    at += Number(size) + 1;
    if (at > end || answer[at - 1] !== '\n')
      throw new RangeError(`a text does not have ${size} bytes`);
    return fromBytes(answer.slice(from, at - 1));
  }

  const reader: RecordReader = { fields: () => line().split(' ', MOST_FIELDS), text };
  const records: T[] = [];
  while (at < end) {
    if (records.length === most) throw new RangeError(`more than ${most} records`);
    records.push(read(reader, records.length));
  }
  return records;
}

/** Decodes UTF-8 from a string with one character for each byte. */
export const fromBytes = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');
