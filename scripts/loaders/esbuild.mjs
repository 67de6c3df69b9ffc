// esbuild plugin for imported shell scripts and YAML.
import { readFile } from 'node:fs/promises';
import { moduleOf, SUFFIX } from './source.mjs';

export const loaders = {
  name: 'loaders',
  setup(build) {
    build.onLoad({ filter: SUFFIX }, async ({ path }) => ({
      contents: moduleOf(path, await readFile(path, 'utf8')),
      loader: 'js',
    }));
  },
};
