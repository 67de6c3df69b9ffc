import { isWrittenOnSeveral } from '../../api/access-modes.ts';
import type { PersistentVolumeClaim } from '../../api/core.ts';
import { type Explanation, explain, reason } from '../../api/reasons.ts';
import { parseHandle } from '../../api/snapshot-handle.ts';
import type { Volume } from '../../api/volume.ts';
import { type BuiltinReads, resolveBuiltin } from '../../model/data-source/builtin.ts';
import type { SourceGates } from '../../model/data-source/data-source.ts';
import { type ReadySource, resolve, type SourceReads } from '../../model/data-source/resolve.ts';
import type { Awaited, Held } from '../../model/data-source/types.ts';
import { withHint } from '../../nodes/job-text.ts';
import type { ClaimStart } from './types.ts';

export interface SourceOptions {
  gate: SourceGates;
  read: SourceReads & BuiltinReads;
  /** Returns the Volume of that name in the cache. */
  volumeNamed(name: string): Volume | undefined;
}

/**
 * Resolves a claim's data source by live reads, with the nodes that have
 * it. Throws errors of the reads.
 */
export async function sourceFor(
  claim: PersistentVolumeClaim,
  options: SourceOptions,
): Promise<ClaimStart> {
  const found = await resolve({ claim, gate: options.gate, read: options.read });
  if ('none' in found) return { is: 'none' };
  if ('other' in found) {
    const { objectKind, namespace, name } = found.other;
    const filled = await resolveBuiltin(claim, found.other, options.gate, options.read);
    if ('ready' in filled) {
      const { populator, uid } = filled.ready;
      return { is: 'ready', source: { populator, uid }, nodes: undefined };
    }
    if (!('none' in filled)) return waiting(filled);
    // KEP-1495, feedback source 3, in the wording of external-provisioner.
    const whole = { kind: objectKind, source: `${namespace}/${name}` };
    return { is: 'other', ...explain('ExternalPopulator', whole), on: filled.on };
  }
  return 'ready' in found ? placed(found.ready, options) : waiting(found);
}

function waiting(held: Held): ClaimStart {
  const { reason: detail, refusal, hint, on } = 'wait' in held ? held.wait : held.refuse;
  return waits({ message: withHint(refusal, hint), detail }, on);
}

const waits = (why: Explanation, on: readonly Awaited[]): ClaimStart => ({
  is: 'waits',
  ...why,
  on,
});

/** Adds the nodes that have the data. */
async function placed(
  ready: ReadySource,
  { read, volumeNamed }: SourceOptions,
): Promise<ClaimStart> {
  if ('volumeName' in ready) {
    const { volumeName } = ready;
    const volume = volumeNamed(volumeName);
    const prepared = volume?.status?.prepared;
    const on = [{ kind: 'PersistentVolume', name: volumeName }] as const;
    if (volume === undefined || prepared === undefined)
      return waits(explain('SourceVolumeNotMade', { volume: volumeName }), on);
    if (isWrittenOnSeveral(volume.spec))
      return waits(explain('SourceOnSharedDirectory', { volume: volumeName }), on);
    const nodes = volume.spec.attachableNodes ?? [prepared.node];
    return { is: 'ready', source: { volumeName, uid: volume.metadata.uid ?? '' }, nodes };
  }
  const name = ready.contentName;
  const on = [{ kind: 'VolumeSnapshotContent', name }] as const;
  const content = await read.content(name);
  const text = content?.status?.snapshotHandle ?? content?.spec.source.snapshotHandle;
  if (text === undefined) return waits(explain('SourceHandleMissing', { content: name }), on);
  const handle = parseHandle(text);
  if ('problem' in handle) {
    const message = `VolumeSnapshotContent ${name}: snapshotHandle ${handle.problem}`;
    return waits({ message, detail: reason('SourceHandleInvalid', { content: name }) }, on);
  }
  return {
    is: 'ready',
    source: { snapshotContentName: name, uid: content?.metadata.uid ?? '' },
    nodes: handle.nodes,
  };
}
