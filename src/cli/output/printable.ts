/**
 * Text from elsewhere as a terminal may have it: without the control characters that would steer the terminal.
 * Line breaks and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '\u{fffd}');
}
