import type { CreateFlags } from '../lib/objects/flags.ts';
import type { ClassFlags, DynamicFlags } from './manifest.ts';

export interface CreateClassFlags
  extends Omit<ClassFlags, 'fsType'>,
    Partial<Omit<DynamicFlags, keyof ClassFlags>>,
    CreateFlags {
  static?: boolean;
  dynamic?: boolean;
  fsType?: ClassFlags['fsType'];
}
