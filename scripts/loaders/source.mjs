// Modules for files that are not programs: the text of a shell script, or the value of a YAML file.
import { parse } from 'yaml';

export const SUFFIX = /\.(?:sh|yaml)$/;

/** @returns an ES module whose default export is the text or value */
export const moduleOf = (path, text) =>
  `export default ${JSON.stringify(path.endsWith('.sh') ? text : parse(text))};`;
