import { StowageError } from '../../api/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { checkClass } from '../../volumes/storage-class.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { createObjects } from '../objects/create.ts';
import type { CreateFlags } from '../objects/flags.ts';
import { type ClassFlags, staticClass } from './manifest.ts';

export interface CreateClassFlags extends ClassFlags, CreateFlags {
  static?: boolean;
  dynamic?: boolean;
}

/** `stowage create storageclass`. `connect` is not called for what needs no cluster. Throws a StowageError. */
export async function create(
  name: string,
  flags: CreateClassFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  if (flags.dynamic) {
    throw new StowageError('usage', '--dynamic is not supported by this version of stowage', {
      hint: 'No class makes volumes for claims yet: use --static, and create Volumes by hand.',
    });
  }
  // Not the default: once there are classes of both kinds, each must have been meant.
  if (!flags.static) throw new StowageError('usage', 'missing: --static');
  const wanted = staticClass(name, flags);
  const checked = checkClass(wanted);
  if ('problem' in checked) throw new StowageError('usage', `StorageClass ${name}: ${checked.problem}`);
  await createObjects([wanted], flags, io, connect);
}
