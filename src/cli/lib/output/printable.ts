/**
 * What steers a terminal within text: control characters, and those that change the direction of text, by which a line
 * shows in another order than it has.
 */
const STEERING = /\p{Cc}|\p{Bidi_Control}/gu;

/** Text from elsewhere as a terminal may have it: without the characters that would steer it. Line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replace(STEERING, (character) => (/[\n\t]/.test(character) ? character : '\u{fffd}'));
}

/** Whether there is more than line breaks. */
export const steers = (text: string): boolean => text.replaceAll('\n', '').search(STEERING) >= 0;

/** JSON, or double quotes of YAML, with those characters escaped that are in strings there as they are. */
export function escapeControls(quoted: string): string {
  return quoted.replace(STEERING, (character) =>
    character < '\u0020'
      ? character
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
