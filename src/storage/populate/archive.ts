import { scriptArgv } from '../scripts/scripts.ts';
import { imageArgv } from './image.ts';
import { sourceWords } from './source-words.ts';
import { targetWords } from './target.ts';
import type { Fill, FillTarget } from './types.ts';

/** The command that unpacks an archive into a volume. */
export function archiveArgv({ options }: Fill, target: FillTarget): string[] {
  const { compression = 'auto', allowed = 'plain', sha256 = '-', source = '' } = options;
  return scriptArgv(
    'stowage-archive',
    ...targetWords(target),
    ...[compression, allowed, sha256, sourceWords(source).argument],
  );
}

/** What a volume had comes back to one: its pods may have made any file in it that there can be. */
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
