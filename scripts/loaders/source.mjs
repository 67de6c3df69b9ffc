// Modules of files that are no program: the text of a shell script, and the value of a YAML file.
import { parse } from 'yaml';

export const SUFFIX = /\.(?:sh|yaml)$/;

/** @returns an ES module whose default export that is */
export const moduleOf = (path, text) =>
  `export default ${JSON.stringify(path.endsWith('.sh') ? text : parse(text))};`;
