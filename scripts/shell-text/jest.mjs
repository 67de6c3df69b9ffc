// Jest's transform of shell scripts that are imported: their text is the default export, as from esbuild.
export default {
  process: (text) => ({ code: `export default ${JSON.stringify(text)};` }),
};
