// Hooks for `node --import`: Node.js loads neither shell scripts nor YAML.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { moduleOf, SUFFIX } from './source.mjs';

registerHooks({
  load(url, context, next) {
    if (!SUFFIX.test(url)) return next(url, context);
    const path = fileURLToPath(url);
    const source = moduleOf(path, readFileSync(path, 'utf8'));
    return { format: 'module', source, shortCircuit: true };
  },
});
