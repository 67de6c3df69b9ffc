import { isScalar, parseAllDocuments } from 'yaml';
import { StowageError } from '../../../api/errors.ts';
import { plain } from './plain.ts';
import type { ManifestText } from './source.ts';

/** Maximum request size of API servers. */
const MAX_BYTES = 3 * 1024 * 1024;

export interface Document {
  /** File and number of the document in it, for messages. */
  where: string;
  value: unknown;
}

/**
 * Returns the documents of a YAML or JSON file that have content. Throws a StowageError
 * `usage` that names the document.
 */
export function documentsOf({ name, text }: ManifestText): Document[] {
  return split(text).flatMap((part, index) => {
    const where = `${name}, document ${index + 1}`;
    const value = parse(part, where);
    return value === undefined ? [] : [{ where, value }];
  });
}

interface Part {
  text: string;
  /** Number of lines before the part in the file. */
  before: number;
}

/** Splits at every line of `---`, as kubectl does; joins parts without content to the next one. */
function split(text: string): Part[] {
  const parts: Part[] = [];
  let lines: string[] = [];
  let before = 0;
  for (const [number, line] of text.split(/(?<=\n)/).entries()) {
    if (
      /^---(\s|$)/.test(line) &&
      !lines.every((earlier) => /^\s*(#.*|%.*|---\s*)?$/s.test(earlier))
    ) {
      parts.push({ text: lines.join(''), before });
      lines = [];
      before = number;
    }
    lines.push(line);
  }
  return [...parts, { text: lines.join(''), before }];
}

/** Parses a document. Returns undefined for one without content. */
function parse({ text, before }: Part, where: string): unknown {
  const refuse = (found: string) => new StowageError('usage', `${where}: ${inFile(found, before)}`);
  if (Buffer.byteLength(text) > MAX_BYTES) throw refuse(`it has more than ${MAX_BYTES} bytes`);
  try {
    const parsed = parseAllDocuments(text, {
      // As in kubectl, `<<` merges.
      merge: true,
      // Detects numbers that a double cannot represent.
      intAsBigInt: true,
      uniqueKeys: true,
      logLevel: 'silent',
    });
    const documents = Array.isArray(parsed)
      ? parsed.filter(({ contents }) => !isEmpty(contents))
      : [];
    const [problem] = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
    if (problem !== undefined) throw refuse(problem.message);
    if (documents.length > 1) throw refuse('it has several documents without --- between them');
    return documents.length === 0 ? undefined : plain(documents[0]?.toJS({ maxAliasCount: 100 }));
  } catch (error) {
    // Such as errors for aliases that multiply.
    throw error instanceof StowageError ? error : refuse((error as Error).message);
  }
}

const isEmpty = (contents: unknown) =>
  contents === null || (isScalar(contents) && contents.value === null);

/** Returns the first line of a message, with the file's line number, and without the excerpt. */
function inFile(message: string, before: number): string {
  const [first = ''] = message.split('\n');
  return first
    .replace(/:$/, '')
    .replace(/at line ([0-9]+)/, (_, line) => `at line ${Number(line) + before}`);
}
