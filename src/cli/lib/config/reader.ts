import type { Command } from 'commander';
import { readConfig } from './file.ts';
import { NODE_SETTINGS } from './node-settings.ts';
import { type Given, type ResolvedConfig, resolveConfig } from './settings.ts';

/**
 * Returns a reader of the settings: flags and environment, else the file of `--config`, else the
 * defaults of flags. The command defines which flags exist. The reader throws a StowageError.
 */
export function settingsReader(command: Command): () => Promise<ResolvedConfig> {
  const { config: path, ...flags } = command.opts();
  const all = [...NODE_SETTINGS, 'workers', 'retryIntervalStart', 'retryIntervalMax'];
  const from = (...sources: unknown[]): Given =>
    Object.fromEntries(
      all
        .filter((name) => sources.includes(command.getOptionValueSource(name)))
        .map((name) => [name, flags[name]]),
    );
  return async () =>
    resolveConfig(
      from('default'),
      path === undefined ? {} : await readConfig(path),
      from('cli', 'env'),
    );
}
