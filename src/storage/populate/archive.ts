import { scriptArgv } from '../scripts/scripts.ts';
import { imageArgv } from './image.ts';
import { sourceWords } from './source-words.ts';
import { targetWords } from './target.ts';
import type { Fill, FillTarget } from './types.ts';

export function archiveArgv({ options }: Fill, target: FillTarget): string[] {
  const { compression = 'auto', allowed = 'plain', sha256 = '-', source = '' } = options;
  return scriptArgv(
    'stowage-archive',
    ...targetWords(target),
    ...[compression, allowed, sha256, sourceWords(source).argument],
  );
}

/**
 * Returns a command that restores a backup. Files of every type are allowed, since the volume's
 * pods may have created any.
 */
export function backupArgv(fill: Fill, target: FillTarget): string[] {
  const { source = '', backup = '' } = fill.options;
  const options = {
    ...fill.options,
    source: source.startsWith('/') ? `backup:${backup}:${source}` : source,
  };
  return target.content === 'block'
    ? imageArgv({ ...fill, options: { ...options, format: 'exact' } }, target)
    : archiveArgv({ ...fill, options: { ...options, allowed: 'devices+setuid' } }, target);
}
