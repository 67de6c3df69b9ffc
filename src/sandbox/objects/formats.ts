/**
 * Checks of names and labels, with apimachinery's messages
 * (pkg/api/validate/content); none for a valid text.
 */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const VALUE = `(${KEY})?`;
const KEY_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const EMPTY = 'must be non-empty';

const matches = (text: string, pattern: string) => new RegExp(`^${pattern}$`).test(text);
const tooLong = (length: number) => `must be no more than ${length} bytes`;

function rule(text: string, pattern: string, ...examples: string[]): string {
  const all = examples.map((example) => `'${example}', `).join(' or ');
  return `${text} (e.g. ${all}regex used for validation is '${pattern}')`;
}

export function labelFaults(text: string): string[] {
  return [
    ...(text.length > 63 ? [tooLong(63)] : []),
    ...(matches(text, LABEL)
      ? []
      : [
          rule(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            LABEL,
            'my-name',
            '123-abc',
          ),
        ]),
  ];
}

export function subdomainFaults(text: string): string[] {
  return [
    ...(text.length > 253 ? ['must be no more than 253 characters'] : []),
    ...(matches(text, SUBDOMAIN)
      ? []
      : [
          rule(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            SUBDOMAIN,
            'example.com',
          ),
        ]),
  ];
}

/** Checks the key of a label or annotation, or the name of a finalizer. */
export function keyFaults(text: string): string[] {
  const parts = text.split('/');
  const keyRule = rule(KEY_RULE, KEY, 'MyName', 'my.name', '123-abc');
  if (parts.length > 2)
    return [
      `a valid label key ${keyRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const [name = '', prefix] = parts.reverse();
  const prefixFaults =
    prefix === undefined ? [] : prefix === '' ? [EMPTY] : subdomainFaults(prefix);
  return [
    ...prefixFaults.map((fault) => `prefix part ${fault}`),
    ...(name === ''
      ? [`name part ${EMPTY}`]
      : name.length > 63
        ? [`name part ${tooLong(63)}`]
        : []),
    ...(matches(name, KEY) ? [] : [`name part ${keyRule}`]),
  ];
}

/** Checks the value of a label. */
export function valueFaults(text: string): string[] {
  return [
    ...(text.length > 63 ? [tooLong(63)] : []),
    ...(matches(text, VALUE)
      ? []
      : [
          rule(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            VALUE,
            'MyValue',
            'my_value',
            '12345',
          ),
        ]),
  ];
}
