import type { NodeFlags } from '../lib/nodes/flags.ts';
import type { CreateFlags, WaitFlags } from '../lib/objects/flags.ts';
import type { VolumeFlags } from './manifest.ts';

export interface CreateVolumeFlags
  extends VolumeFlags,
    Omit<CreateFlags, 'dryRun'>,
    WaitFlags,
    NodeFlags {
  dryRun: CreateFlags['dryRun'] | 'plan';
  yes?: boolean;
}
