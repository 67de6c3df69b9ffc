// Jest's transform of shell scripts and YAML that are imported.
import { moduleOf } from './source.mjs';

export default {
  process: (text, path) => ({ code: moduleOf(path, text) }),
};
