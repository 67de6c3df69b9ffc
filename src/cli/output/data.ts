import { stringify } from 'yaml';

/** Objects without what only the server needs, as kubectl prints them. */
function withoutManagedFields(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('managedFields' in value)) return value;
  const { managedFields: _, ...rest } = value;
  return rest;
}

/** Control characters that JSON and the yaml package leave as they are within strings: some steer terminals. */
const BARE_CONTROLS = /[\u007f-\u009f]/g;

const hex = (character: string): string => character.charCodeAt(0).toString(16);

/** What programs read of it is what was given. */
export function asJson(object: object): string {
  const text = JSON.stringify(object, withoutManagedFields, 2);
  return `${text.replace(BARE_CONTROLS, (character) => `\\u00${hex(character)}`)}\n`;
}

/** Strings with such characters are in double quotes, where there are escapes: the yaml package sees to that. */
export function asYaml(object: object): string {
  const text = stringify(JSON.parse(asJson(object)));
  return text.replace(BARE_CONTROLS, (character) => `\\x${hex(character)}`);
}
