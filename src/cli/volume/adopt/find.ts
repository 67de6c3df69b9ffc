import { StowageError } from '../../../api/errors.ts';
import { isFsType } from '../../../api/file-systems.ts';
import { isUid } from '../../../api/uid.ts';
import type { Volume, VolumeMode, VolumeSpec } from '../../../api/volume.ts';
import { desiredOf } from '../../../model/desired-volume.ts';
import type { Probe, ProbeResult } from '../../../nodes/job.ts';
import { volumeBytes } from '../../../storage/loopfile/layout.ts';
import type { LogicalVolume } from '../../../storage/lvm/facts.ts';
import { uidsIn } from '../../../storage/lvm/names.ts';
import { readGroup } from '../../../storage/lvm/read-group.ts';
import { observe } from '../../../storage/observe.ts';
import { answersOf } from '../../../storage/probe-results.ts';
import type { Observed } from '../../../storage/registry.ts';
import { describeSignature } from '../../../storage/signature.ts';
import type { DeviceFacts } from '../../../storage/types.ts';
import { PLACEHOLDER_UID } from '../../lib/plan/plan.ts';
import type { AdoptFlags, StorageType } from './flags.ts';

/** Storage that may be a Volume's. */
export interface Found {
  /** UID of the Volume that the storage was made for. */
  uid: string;
  mode: VolumeMode;
  storage: Pick<VolumeSpec, 'rawBlockDevice' | 'sparseLoopDevice' | 'lvmLogicalVolume'>;
}

type RunProbes = (probes: readonly Probe[]) => Promise<ReadonlyMap<string, ProbeResult>>;

/**
 * Observes storage on a node, and finds the UID that names it. Decides nothing: the plan verifies
 * the same again.
 * Throws a StowageError `conflict` for storage that no Volume left, `usage` if its mode is
 * ambiguous; NodeError, ObservationError.
 * @param known all Volumes of the cluster
 */
export async function find(
  type: StorageType,
  flags: AdoptFlags,
  runProbes: RunProbes,
  known: readonly Volume[],
): Promise<Found> {
  switch (type) {
    case 'raw':
      return findDevice(flags, runProbes, known);
    case 'sparse':
      return findFile(flags, runProbes);
    case 'lvm':
      return findLogicalVolume(flags, runProbes, known);
  }
}

async function findDevice(
  flags: AdoptFlags,
  runProbes: RunProbes,
  known: readonly Volume[],
): Promise<Found> {
  const { device: devicePath = '' } = flags;
  const storage = { rawBlockDevice: { devicePath } };
  const { target } = (await observeAs(storage, PLACEHOLDER_UID, runProbes)) as Extract<
    Observed,
    { type: 'raw' }
  >;
  if (target.is === 'missing') throw nothing(`there is no device ${devicePath} on the node`);
  if (target.is === 'other')
    throw nothing(`${devicePath} is not a disk or partition, but a ${target.what}`);
  const { facts } = target;
  const names = namesOn(facts).filter(
    ({ mode }) => flags.mode === undefined || mode === flags.mode,
  );
  const [first] = names;
  if (first === undefined) {
    throw nothing(
      `${devicePath} contains ${facts.content || 'nothing'}, not what Stowage creates${flags.mode === undefined ? '' : ` for mode ${flags.mode}`}`,
    );
  }
  const ofKnown = names.filter(({ uid }) => known.some(({ metadata }) => metadata.uid === uid));
  if (names.length > 1 && ofKnown.length !== 1) throw undecided(devicePath);
  return { ...(ofKnown.length === 1 ? (ofKnown[0] ?? first) : first), storage };
}

/**
 * Returns the UIDs of a file system and of a GPT partition: a partition with a file system may have
 * been made for either mode.
 */
function namesOn({
  signature,
  partition,
  partitionUuids,
}: DeviceFacts): Pick<Found, 'uid' | 'mode'>[] {
  const fs = signature.found === 'one' && isFsType(signature.type) ? signature.uuid : undefined;
  const table = signature.found === 'one' && signature.type === 'gpt' && partitionUuids.length < 2;
  const guid =
    partition?.scheme === 'gpt'
      ? partition.uuid
      : table
        ? (partitionUuids[0] ?? signature.uuid)
        : undefined;
  return [
    ...(isUid(fs) ? [{ uid: fs, mode: 'Filesystem' as const }] : []),
    ...(isUid(guid) ? [{ uid: guid, mode: 'Block' as const }] : []),
  ];
}

async function findFile(
  { file = '', directory, mode }: AdoptFlags,
  runProbes: RunProbes,
): Promise<Found> {
  if (!isUid(file)) {
    throw new StowageError(
      'usage',
      `--file ${JSON.stringify(file)} is not a UID: the file of a Volume is named after its UID`,
      {
        hint: 'Set --file to the name of the file alone, and --directory to its directory.',
      },
    );
  }
  const place = directory === undefined ? {} : { directory };
  const observed = (await observeAs(
    { sparseLoopDevice: { size: 1, ...place } },
    file,
    runProbes,
  )) as Extract<Observed, { type: 'sparse' }>;
  const { earlierFile: found, space } = observed;
  const path = `${space.directory}/${file}`;
  if (found === undefined || found.file.type === 'missing')
    throw nothing(`there is no file ${path} on the node`);
  const type = found.signature.found === 'one' ? found.signature.type : '';
  if (found.file.type !== 'file' || !(isFsType(type) || type === 'gpt')) {
    throw nothing(
      `${path} is not a volume that Stowage created: ${describeSignature(found.signature)} was found`,
    );
  }
  const made = type === 'gpt' ? 'Block' : 'Filesystem';
  const size = String(volumeBytes(made, found.file.sizeBytes));
  // The plan refuses a mode or a size that differs.
  return { uid: file, mode: mode ?? made, storage: { sparseLoopDevice: { size, ...place } } };
}

async function findLogicalVolume(
  flags: AdoptFlags,
  runProbes: RunProbes,
  known: readonly Volume[],
): Promise<Found> {
  const { vg: vgName = '', lv = '' } = flags;
  const volumes = await readGroup(async (probes) => answersOf(await runProbes(probes)), vgName);
  const own = volumes.find(({ name }) => name === lv);
  if (own === undefined) throw nothing(`there is no logical volume ${vgName}/${lv} on the node`);
  const [uid, other] = uidsIn(own.tags);
  if (uid === undefined || other !== undefined) {
    throw nothing(
      `the logical volume ${vgName}/${lv} has ${uid === undefined ? 'no tag' : 'several tags'} of the form stowage.dev/uid=UID`,
      `If MetalK8s created it, add the tag with the UUID of its file system: lvchange --addtag stowage.dev/uid=UID ${vgName}/${lv}`,
    );
  }
  const storage = { lvmLogicalVolume: lvmOf(vgName, own) };
  const earlier = known.find(({ metadata }) => metadata.uid === uid);
  const mode =
    flags.mode ??
    (earlier ? (earlier.spec.mode ?? 'Filesystem') : await modeOf(storage, uid, runProbes));
  if (mode === undefined) throw undecided(`${vgName}/${lv}`);
  return { uid, mode, storage };
}

const lvmOf = (vgName: string, { sizeBytes, pool }: LogicalVolume) => ({
  vgName,
  size: String(sizeBytes),
  ...(pool === undefined ? {} : { thinPool: pool }),
});

/** Returns the mode that the content shows; undefined while the logical volume is inactive. */
async function modeOf(
  storage: Found['storage'],
  uid: string,
  runProbes: RunProbes,
): Promise<VolumeMode | undefined> {
  const { target } = (await observeAs(storage, uid, runProbes)) as Extract<
    Observed,
    { type: 'lvm' }
  >;
  if (target.is !== 'device') return undefined;
  const { signature } = target.facts;
  return signature.found === 'one' && signature.uuid === uid ? 'Filesystem' : 'Block';
}

/** Observes the storage that a part of a Volume's spec names. */
function observeAs(
  storage: Found['storage'],
  uid: string,
  runProbes: RunProbes,
): Promise<Observed> {
  const metadata = { name: 'adopted', uid: PLACEHOLDER_UID };
  const spec = { nodeName: '', storageClassName: '', ...storage, adopt: { uid } };
  const desired = desiredOf({ apiVersion: '', kind: '', metadata, spec }, undefined);
  return observe(runProbes, desired);
}

const nothing = (what: string, hint?: string): StowageError =>
  new StowageError('conflict', what, hint === undefined ? {} : { hint });

const undecided = (what: string): StowageError =>
  new StowageError('usage', `the mode of ${what} cannot be determined`, {
    hint: 'Set --mode to that of the earlier Volume, Filesystem or Block.',
  });
