import { scriptArgv } from '../scripts/scripts.ts';
import { sourceWords } from './source-words.ts';
import { targetWords } from './target.ts';
import type { Fill, FillTarget } from './types.ts';

export function imageArgv({ options }: Fill, target: FillTarget): string[] {
  const { format = 'raw', compression = 'auto', sha256 = '-', source = '' } = options;
  return scriptArgv(
    'stowage-image',
    ...targetWords(target),
    ...[format, compression, sha256, sourceWords(source).argument],
  );
}
