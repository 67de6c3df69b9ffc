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
const END_OF_KEY = new RegExp(`[A-Za-z0-9+/=\\\\]*${END}`, 'g');

/** A line of a key, also after the prefix of a log. */
const KEY_LINE = /[A-Za-z0-9+/=]{16,}\s*$/;

/** Maximum number of lines of a key. */
const KEY_LINES = 400;

/** A block of YAML: `password: |`, and the lines below it that are indented further. */
const YAML_BLOCK =
  /^([ \t]*)((?:- +)*)(["']?)([\w.-]{1,256})\3:[ \t]*[|>][-+0-9]*[ \t]*\n(?:(?:\1[ \t]+[^\n]*|[ \t]*)(?:\n|$))+/gm;

/** Removes secrets of several lines from a text: private keys and blocks of YAML. Pure. */
export function redactBlocks(text: string): string {
  const left = text
    .replace(KEY, REMOVED)
    .replace(YAML_BLOCK, (whole, indent, dash, quote, name) =>
      isSensitiveName(name) ? `${indent}${dash}${quote}${name}${quote}: ${REMOVED}\n` : whole,
    );
  return withoutEnds(left);
}

/** Removes keys that lost their start, as in the tail of a log. */
function withoutEnds(text: string): string {
  if (!text.includes('-----END ')) return text;
  const kept: string[] = [];
  for (const line of text.split('\n')) {
    const without = line.replace(END_OF_KEY, REMOVED);
    if (without !== line) {
      for (let lines = 0; lines < KEY_LINES && KEY_LINE.test(kept.at(-1) ?? ''); lines += 1)
        kept.pop();
    }
    kept.push(without);
  }
  return kept.join('\n');
}
