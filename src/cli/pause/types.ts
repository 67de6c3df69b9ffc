import type { ChoiceFlags } from '../lib/objects/choose.ts';
import type { WaitFlags } from '../lib/objects/flags.ts';

export type PauseVerb = 'pause' | 'resume';
export type PausedKind = 'volume' | 'node';

export interface PauseFlags extends ChoiceFlags, WaitFlags {
  output?: 'json' | 'yaml' | 'name';
}
