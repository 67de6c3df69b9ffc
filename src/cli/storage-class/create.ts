import type { Command } from 'commander';
import type { StorageClass } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import { DEFAULT_FS_TYPE } from '../../api/file-systems.ts';
import type { KubeClient } from '../../kube/types.ts';
import { checkClass } from '../../model/class-options.ts';
import { dynamicClass as readClass } from '../../model/dynamic-class.ts';
import type { Io } from '../lib/io.ts';
import { createObjects } from '../lib/objects/create.ts';
import type { CreateClassFlags } from './flags.ts';
import { type ClassFlags, dynamicClass, staticClass } from './manifest.ts';
import { agreeToClass, complete, type Given } from './wizard.ts';

/**
 * Runs `stowage create storageclass`. Prompts for missing values on a terminal. Calls `connect`
 * only if required. Throws a StowageError.
 */
export async function create(
  given: Given,
  command: Command,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  // Contradictory flags fail before any question.
  if (given.static || given.dynamic) refuseContradictions(given);
  const { answers: flags, asked } = await complete(given, command, io);
  const { name } = flags;
  refuseContradictions(flags);
  const wanted = classOf(name, { ...flags, fsType: flags.fsType ?? DEFAULT_FS_TYPE });
  const checked = checkClass(wanted);
  if ('problem' in checked)
    throw new StowageError('usage', `StorageClass ${name}: ${checked.problem}`);
  const read = flags.static ? undefined : readClass(wanted);
  if (read !== undefined && 'problem' in read) throw new StowageError('usage', read.problem);
  if (asked && flags.dryRun === 'none') await agreeToClass(wanted, flags, io, await connect());
  await createObjects([wanted], flags, io, connect);
}

/** Throws a StowageError `usage` for flags that do not go together. */
function refuseContradictions(flags: CreateClassFlags): void {
  if (flags.static && flags.dynamic)
    throw new StowageError('usage', '--static and --dynamic exclude each other');
  if (flags.static) {
    const [given] = ofDynamic(flags);
    if (given !== undefined)
      throw new StowageError(
        'usage',
        `${given} is for --dynamic: a Volume created by hand sets it itself`,
      );
    return;
  }
  const { directory, requireMount, vg, thinPool, overwriteFreeExtents } = flags;
  if (isLvm(flags) && directory !== undefined)
    throw new StowageError('usage', '--directory is for --type sparse');
  if (isLvm(flags) && requireMount)
    throw new StowageError('usage', '--require-mount is for --type sparse');
  if (!isLvm(flags) && vg !== undefined) throw new StowageError('usage', '--vg is for --type lvm');
  if (!isLvm(flags) && thinPool !== undefined)
    throw new StowageError('usage', '--thin-pool is for --type lvm');
  if (overwriteFreeExtents && (!isLvm(flags) || thinPool !== undefined))
    throw new StowageError(
      'usage',
      '--overwrite-free-extents is for --type lvm without --thin-pool: files, and new volumes of a thin pool, read as zeros',
    );
}

const isLvm = ({ type, vg }: CreateClassFlags): boolean =>
  type === undefined ? vg !== undefined : type === 'lvm';

/** Returns the class. Its sort is never guessed: a cluster may have static and dynamic ones. */
function classOf(name: string, flags: CreateClassFlags & ClassFlags): StorageClass {
  if (flags.static) return staticClass(name, flags);
  const { reclaimPolicy = 'Delete' } = flags;
  return dynamicClass(name, { ...flags, type: isLvm(flags) ? 'lvm' : 'sparse', reclaimPolicy });
}

const ofDynamic = ({
  type,
  directory,
  requireMount,
  vg,
  thinPool,
  overwriteFreeExtents,
  reclaimPolicy,
  onDelete,
  attachPolicy,
}: CreateClassFlags): string[] =>
  Object.entries({
    '--type': type,
    '--directory': directory,
    '--require-mount': requireMount,
    '--vg': vg,
    '--thin-pool': thinPool,
    '--overwrite-free-extents': overwriteFreeExtents,
    '--reclaim-policy': reclaimPolicy,
    '--on-delete': onDelete,
    '--attach-policy': attachPolicy,
  })
    .filter(([, value]) => value !== undefined)
    .map(([flag]) => flag);
