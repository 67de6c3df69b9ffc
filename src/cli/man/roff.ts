/** Escapes of characters special to groff_man(7): hyphens can be copied, quotes are straight. */
const SPECIAL: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
};

/** Escapes text for a line of a manual page: no part of the text is a request or an escape. */
export function roff(text: string): string {
  const escaped = text
    .replaceAll(/[\\'`^~-]/g, (character) => SPECIAL[character] ?? '')
    .replaceAll(
      /[^\n -~]/gu,
      (character) =>
        `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
  // A line that begins with a dot would be a request.
  return escaped.replaceAll(/^\./gm, '\\&.');
}

export const bold = (text: string): string => `\\fB${roff(text)}\\fR`;
export const italic = (text: string): string => `\\fI${roff(text)}\\fR`;

/** Returns a paragraph that hangs below its term. Both are in roff already. */
export const hanging = (term: string, text: string): string => `.TP\n${term}\n${text}\n`;

export const section = (title: string, body: string): string => `.SH ${title}\n${body}`;

export const subsection = (title: string): string => `.SS ${roff(title)}\n`;

/** Returns a paragraph of a text in roff. */
export const paragraph = (text: string): string => `.PP\n${text}\n`;

/** Returns an indented line in roff, which is not filled. */
export const literal = (line: string): string => `.RS 4\n.nf\n${line}\n.fi\n.RE\n`;
