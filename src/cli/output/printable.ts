/**
 * Text from elsewhere as a terminal may have it: without the control characters that would steer the terminal.
 * Line breaks and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '\u{fffd}');
}

/** JSON with the control characters escaped that JSON.stringify leaves as they are within strings: some steer terminals. */
export function escapeControls(json: string): string {
  return json.replace(/[\u007f-\u009f]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}
