// What is imported of files that are no program: the text of a shell script, and what a YAML file says.
import { parse } from 'yaml';

export const SUFFIX = /\.(?:sh|yaml)$/;

/** @returns an ES module whose default export that is */
export const moduleOf = (path, text) =>
  `export default ${JSON.stringify(path.endsWith('.sh') ? text : parse(text))};`;
