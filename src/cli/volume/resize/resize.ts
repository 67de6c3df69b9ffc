import type { PersistentVolume } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import { isPaused } from '../../../api/paused.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../../api/resources.ts';
import { sizeProblems } from '../../../api/spec-problems.ts';
import type { Volume } from '../../../api/volume.ts';
import { attachmentsOf, isOnDemand } from '../../../controllers/volume/attached.ts';
import { patchWithRetry } from '../../../kube/retry.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { isPvOf } from '../../../model/persistent-volume.ts';
import { requestSize as claimPatch } from '../../lib/command-line.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import type { Io } from '../../lib/io.ts';
import type { NodeFlags } from '../../lib/nodes/flags.ts';
import type { CreateFlags, WaitFlags } from '../../lib/objects/flags.ts';
import { nameOf } from '../../lib/objects/name.ts';
import { printDone } from '../../lib/objects/print.ts';
import { printable } from '../../lib/output/printable.ts';
import { foundIn, readNamed } from '../../lib/read-result.ts';
import { judgeResize, withSize } from './judge-resize.ts';
import { owningClaim } from './owning-claim.ts';
import { printExpansion } from './plan-resize.ts';
import { untilExpanded } from './wait-expanded.ts';

export interface ResizeFlags extends Omit<CreateFlags, 'dryRun'>, WaitFlags {
  dryRun: CreateFlags['dryRun'] | 'plan';
}

/**
 * Runs `stowage resize volume`. Calls `nodeFlags` only if the node is observed. Throws a
 * StowageError: `conflict` if the Volume cannot get the size, `failed` if it does not with --wait.
 * @param size a valid quantity
 */
export async function resize(
  name: string,
  size: string,
  flags: ResizeFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
  nodeFlags: () => Promise<NodeFlags>,
): Promise<void> {
  const { signal } = io;
  const { dryRun, output } = flags;
  const [problem] = sizeProblems('size', size);
  if (problem !== undefined) throw new StowageError('usage', `Volume ${name}: ${problem}`);
  const client = await connect();
  const volume = await client.get<Volume>(VOLUMES, name, { signal });
  const { field, is } = resizable(volume, size);
  const read = await readNamed<PersistentVolume>(client, PERSISTENT_VOLUMES, name, { signal });
  const found = foundIn(read);
  const pv = found !== undefined && isPvOf(found, volume) ? found : undefined;
  await refuseClaimed(volume, pv, size, client, signal);
  const wanted = withSize(volume, field, size);
  if (dryRun === 'plan')
    return printExpansion(wanted, pv, { ...flags, ...(await nodeFlags()) }, io, client);
  // Before the change, so that a plan of the page shows them.
  if (is === 'larger' && dryRun === 'none') noteDelays(volume, pv, io);
  const isServer = dryRun === 'server';
  const { changed, isChanged } =
    dryRun === 'client'
      ? { changed: wanted, isChanged: is === 'larger' }
      : await requestSize(volume, size, isServer, client, signal);
  const suffix = dryRun === 'none' ? '' : isServer ? ' (server dry run)' : ' (dry run)';
  const did = isChanged ? 'resize requested' : 'unchanged';
  if (dryRun !== 'none') return printDone([changed], false, `${did}${suffix}`, output, io);
  if (!flags.wait) return printDone([changed], false, did, output, io);
  io.stderr.write(`${printable(nameOf(changed))} ${did}\n`);
  const expanded = await untilExpanded(changed, flags.timeout, io, client);
  printDone([expanded], false, isChanged ? 'resized' : did, output, io);
}

/** Returns the verdict about a size. Throws a StowageError `conflict` if it is a refusal. */
function resizable(volume: Volume, size: string) {
  const verdict = judgeResize(volume, size);
  if (verdict.is !== 'refused') return verdict;
  throw notResized(volume, verdict.why, verdict.hint);
}

const notResized = ({ metadata: { name } }: Volume, why: string, hint: string): StowageError =>
  new StowageError('conflict', `Volume ${name} is not resized: ${why}`, {
    hint,
    object: { kind: VOLUMES.kind, name },
  });

/** Throws a StowageError `conflict` for a Volume whose size follows a claim. */
async function refuseClaimed(
  volume: Volume,
  pv: PersistentVolume | undefined,
  size: string,
  client: KubeClient,
  signal: AbortSignal,
): Promise<void> {
  const claim = await owningClaim(volume, pv, client, signal);
  if (claim === undefined) return;
  const { namespace, name } = claim;
  throw notResized(
    volume,
    `it belongs to the claim ${namespace}/${name}, whose size it follows`,
    `Request the size in the claim: ${claimPatch(namespace, name, size)}`,
  );
}

/**
 * Changes the size in the spec, unless the Volume has it. Throws a StowageError `conflict` if that
 * is no longer possible, or another Volume has taken the name.
 */
async function requestSize(
  { metadata: { name, uid } }: Volume,
  size: string,
  dryRun: boolean,
  client: KubeClient,
  signal: AbortSignal,
): Promise<{ changed: Volume; isChanged: boolean }> {
  let isChanged = false;
  const compute = (current: Volume) => {
    if (current.metadata.uid !== uid)
      throw notResized(
        current,
        'it was replaced by another one meanwhile',
        'Check which one it is.',
      );
    const { is, field } = resizable(current, size);
    isChanged = is === 'larger';
    return isChanged ? { spec: { [field]: { size } } } : undefined;
  };
  const changed = await patchWithRetry<Volume>(client, VOLUMES, name, compute, { signal, dryRun });
  return { changed, isChanged };
}

/** Prints notes about what delays an expansion, and what does not follow it. */
function noteDelays(volume: Volume, pv: PersistentVolume | undefined, { stderr }: Io): void {
  const { metadata, status } = volume;
  const note = (text: string) => void stderr.write(printable(`note: ${text}\n`));
  const { name } = metadata;
  if (isPaused(volume) || status?.conditions?.some(isPause))
    note(`Volume ${name} is paused, and is expanded once it is resumed`);
  const isAttached = attachmentsOf(volume).some(({ state }) => state === 'Attached');
  if (isOnDemand(volume) && !isAttached && status?.prepared !== undefined)
    note(`Volume ${name} is attached on demand, and is expanded once a pod needs it`);
  const { claimRef } = pv?.spec ?? {};
  if (pv?.status?.phase === 'Bound' && claimRef !== undefined) {
    note(
      `the claim ${claimRef.namespace}/${claimRef.name} still shows its earlier capacity after the expansion`,
    );
  }
}

const isPause = ({ type, status }: { type: string; status: string }): boolean =>
  type === 'Paused' && status === 'True';
