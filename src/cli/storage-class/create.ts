import type { StorageClass } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { checkClass } from '../../volumes/storage-class.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { createObjects } from '../objects/create.ts';
import type { CreateFlags } from '../objects/flags.ts';
import { type ClassFlags, type DynamicFlags, dynamicClass, staticClass } from './manifest.ts';

export interface CreateClassFlags
  extends ClassFlags,
    Partial<Omit<DynamicFlags, keyof ClassFlags>>,
    CreateFlags {
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
  const wanted = classOf(name, flags);
  const checked = checkClass(wanted);
  if ('problem' in checked) throw new StowageError('usage', `StorageClass ${name}: ${checked.problem}`);
  await createObjects([wanted], flags, io, connect);
}

/** Which sort is not to be guessed: where there are classes of both, each must have been meant. */
function classOf(name: string, flags: CreateClassFlags): StorageClass {
  if (flags.static && flags.dynamic)
    throw new StowageError('usage', '--static and --dynamic exclude each other');
  if (flags.static) {
    const [given] = ofDynamic(flags);
    if (given !== undefined)
      throw new StowageError('usage', `${given} is for --dynamic: a Volume made by hand says it itself`);
    return staticClass(name, flags);
  }
  if (!flags.dynamic) {
    throw new StowageError('usage', 'missing: --static or --dynamic', {
      hint: 'Volumes of a static class are made by hand; claims of a dynamic one make their own.',
    });
  }
  const { type, directory, vg, thinPool } = flags;
  const isLvm = type === undefined ? vg !== undefined : type === 'lvm';
  if (isLvm && vg === undefined)
    throw new StowageError('usage', 'missing: --vg, the volume group of each node');
  if (isLvm && directory !== undefined) throw new StowageError('usage', '--directory is for --type sparse');
  if (!isLvm && vg !== undefined) throw new StowageError('usage', '--vg is for --type lvm');
  if (!isLvm && thinPool !== undefined) throw new StowageError('usage', '--thin-pool is for --type lvm');
  const { reclaimPolicy = 'Delete' } = flags;
  return dynamicClass(name, { ...flags, type: isLvm ? 'lvm' : 'sparse', reclaimPolicy });
}

const ofDynamic = ({ type, directory, vg, thinPool, reclaimPolicy }: CreateClassFlags): string[] =>
  Object.entries({
    '--type': type,
    '--directory': directory,
    '--vg': vg,
    '--thin-pool': thinPool,
    '--reclaim-policy': reclaimPolicy,
  })
    .filter(([, value]) => value !== undefined)
    .map(([flag]) => flag);
