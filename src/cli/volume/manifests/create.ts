import type { StorageClass } from '../../../api/core.ts';
import type { KubeObject } from '../../../api/meta.ts';
import { NO_PROVISIONER } from '../../../api/names.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { checkClass } from '../../../model/class-options.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import type { Io } from '../../lib/io.ts';
import { createObjects } from '../../lib/objects/create.ts';
import type { CreateFlags, WaitFlags } from '../../lib/objects/flags.ts';
import { volumeProblem } from '../check.ts';
import { confirmOverwriting } from '../create.ts';
import { readManifests } from './objects.ts';
import { schemaProblem } from './schema.ts';

export interface CreateFromFilesFlags extends CreateFlags, WaitFlags {
  yes?: boolean;
}

/** Runs `stowage create -f FILE`. Calls `connect` only if required. Throws a StowageError. */
export async function create(
  files: readonly string[],
  flags: CreateFromFilesFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  const objects = await readManifests(files, io, objectProblem);
  await confirmOverwriting(objects.filter(isVolume), flags, io);
  await createObjects(objects, flags, io, connect);
}

const isVolume = (object: KubeObject): object is Volume => object.kind === VOLUMES.kind;

/** Returns why an object may not be created, in one sentence; undefined if it may. */
export function objectProblem(object: KubeObject): string | undefined {
  if (isVolume(object)) return schemaProblem(object, 'Volume') ?? volumeProblem(object);
  return schemaProblem(object, 'StorageClass') ?? classProblem(object as StorageClass);
}

/** Returns the problem of a static class. Provisioners validate their own classes. */
function classProblem(found: StorageClass): string | undefined {
  if (found.provisioner !== NO_PROVISIONER) return undefined;
  const checked = checkClass(found);
  return 'problem' in checked
    ? `StorageClass ${found.metadata.name}: ${checked.problem}`
    : undefined;
}
