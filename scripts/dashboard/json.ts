/** Columns of a line. */
const WIDTH = 100;

/**
 * Returns a value as JSON in the style of the repository's formatter: what fits a line is on one,
 * so that a panel is a screen long.
 * @param before columns used by the indentation, the key and the comma
 */
export function compactJson(value: unknown, indent = '', before = 0): string {
  const line = flat(value);
  if (typeof value !== 'object' || value === null || before + line.length <= WIDTH) return line;
  const deeper = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const items = Object.entries(value).map(([key, item]) => {
    const name = Array.isArray(value) ? '' : `${JSON.stringify(key)}: `;
    return `${deeper}${name}${compactJson(item, deeper, deeper.length + name.length + 1)}`;
  });
  return `${open}\n${items.join(',\n')}\n${indent}${close}`;
}

function flat(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flat).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const items = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${flat(item)}`);
  return items.length === 0 ? '{}' : `{ ${items.join(', ')} }`;
}
