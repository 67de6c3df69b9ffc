// Jest transform for imported shell scripts and YAML.
import { moduleOf } from './source.mjs';

export default {
  process: (text, path) => ({ code: moduleOf(path, text) }),
};
