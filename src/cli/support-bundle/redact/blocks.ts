import { isSensitiveName } from './sensitive-name.ts';

/** Replaces each removed text. */
export const REMOVED = 'REMOVED';

const BEGIN = '-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----';
const END = '-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----';

/**
 * A private key in PEM, up to its end or the maximum length of a key in characters. Without that
 * maximum, a tenant's text could remove the rest of a log.
 */
const KEY = new RegExp(`${BEGIN}[\\s\\S]{0,16384}?(?:${END}|$)|${BEGIN}[\\s\\S]{0,16384}`, 'g');

/** The end of a key, and the line of the key before it if its line breaks are escaped. */
const END_OF_KEY = new RegExp(`(?<![A-Za-z0-9+/=\\\\])[A-Za-z0-9+/=\\\\]*${END}`, 'g');

/** End of a line of a key, also after the prefix of a log. */
const KEY_LINE = /[A-Za-z0-9+/=]{16}$/;

/** Maximum number of lines of a key. */
const KEY_LINES = 400;

/** First line of a block of YAML: `password: |`. */
const YAML_BLOCK =
  /^(?<indent>[ \t]*)(?<start>(?:- +)*(["']?)(?<name>[\w.-]{1,256})\3:)[ \t]*[|>][-+0-9]*\s*$/;

/** Line of YAML with the data of a Secret, before the lines that are indented further. */
const YAML_DATA = /^(?<indent>[ \t]*)(?<start>(?:- +)*(["']?)(?:data|stringData)\3:)(?:\s*$|\s+\S)/;

const YAML_SECRET = /^[ \t]*(?:- +)*(["']?)kind\1:[ \t]*(["']?)Secret(?:List)?\2\s*$/;

/** Removes secrets of several lines from a text: private keys, and parts of YAML. Pure. */
export function redactBlocks(text: string): string {
  return withoutEnds(redactYaml(text.replace(KEY, REMOVED)));
}

/** Removes blocks of YAML below sensitive names, and the data of Secrets. */
function redactYaml(text: string): string {
  const lines = text.split('\n');
  const inSecret = linesOfSecrets(lines);
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const block = YAML_BLOCK.exec(line)?.groups;
    const isSensitive = block !== undefined && isSensitiveName(block.name ?? '');
    const removed = isSensitive ? block : inSecret[at] ? YAML_DATA.exec(line)?.groups : undefined;
    if (removed === undefined) {
      kept.push(line);
      continue;
    }
    const { indent = '', start } = removed;
    kept.push(`${indent}${start} ${REMOVED}`);
    while (at + 1 < lines.length && isWithin(lines[at + 1] ?? '', indent)) at += 1;
    // The text ended with a newline.
    if (at === lines.length - 1 && lines.at(-1) === '') kept.push('');
  }
  return kept.join('\n');
}

/** Reports whether a line of YAML is empty, or indented further than the start of its block. */
const isWithin = (line: string, indent: string): boolean =>
  line.trim() === '' || (line.startsWith(indent) && /^[ \t]/.test(line.slice(indent.length)));

/** Reports of each line whether its document of YAML has a Secret. */
function linesOfSecrets(lines: readonly string[]): boolean[] {
  let document = 0;
  const documents = lines.map((line) => {
    if (line.startsWith('---')) document += 1;
    return document;
  });
  const secret = new Set(documents.filter((_, index) => YAML_SECRET.test(lines[index] ?? '')));
  return documents.map((each) => secret.has(each));
}

/** Removes keys that lost their start, as in the tail of a log. */
function withoutEnds(text: string): string {
  if (!text.includes('-----END ')) return text;
  const kept: string[] = [];
  for (const line of text.split('\n')) {
    const without = line.replace(END_OF_KEY, REMOVED);
    if (without !== line) {
      for (
        let lines = 0;
        lines < KEY_LINES && KEY_LINE.test(kept.at(-1)?.trimEnd() ?? '');
        lines += 1
      )
        kept.pop();
    }
    kept.push(without);
  }
  return kept.join('\n');
}
