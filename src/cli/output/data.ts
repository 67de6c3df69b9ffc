import { Document, visit } from 'yaml';

/** Objects without what only the server needs, as kubectl prints them. */
function withoutManagedFields(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('managedFields' in value)) return value;
  const { managedFields: _, ...rest } = value;
  return rest;
}

/** Control characters that JSON allows within strings, and the yaml package anywhere: some steer terminals. */
const BARE_CONTROLS = /[\u007f-\u009f]/g;

const hex = (character: string): string => character.charCodeAt(0).toString(16);

/** What programs read of it is what was given. */
export function asJson(object: object): string {
  const text = JSON.stringify(object, withoutManagedFields, 2);
  return `${text.replace(BARE_CONTROLS, (character) => `\\u00${hex(character)}`)}\n`;
}

export function asYaml(object: object): string {
  const document = new Document(JSON.parse(asJson(object)));
  visit(document, {
    Scalar(_, scalar) {
      // The only style that has escapes.
      if (String(scalar.value).search(BARE_CONTROLS) >= 0) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return String(document).replace(BARE_CONTROLS, (character) => `\\x${hex(character)}`);
}
