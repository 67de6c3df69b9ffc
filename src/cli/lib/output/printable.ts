/**
 * Characters that steer a terminal: control characters, and those that change the direction of
 * text. The latter show a line in another order than it has.
 */
const STEERING = /\p{Cc}|\p{Bidi_Control}/gu;

/**
 * Replaces the characters in foreign text that would steer a terminal, but not line breaks and
 * tabs.
 */
export function printable(text: string): string {
  return text.replace(STEERING, (character) => (/[\n\t]/.test(character) ? character : '\u{fffd}'));
}

/** Reports whether a text steers a terminal by more than line breaks. */
export const steers = (text: string): boolean => text.replaceAll('\n', '').search(STEERING) >= 0;

/** Escapes characters that steer a terminal in JSON, or within double quotes in YAML. */
export function escapeControls(quoted: string): string {
  return quoted.replace(STEERING, (character) =>
    character < '\u0020' ? character : escaped(character),
  );
}

/** Returns a character of the basic plane as an escape of JSON. */
export const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
