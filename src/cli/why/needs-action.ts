import type { PersistentVolumeClaim } from '../../api/core.ts';
import { type ErrorObject, StowageError } from '../../api/errors.ts';
import { PERSISTENT_VOLUME_CLAIMS, VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import type { KubeClient } from '../../kube/types.ts';
import { commandLine } from '../lib/command-line.ts';
import { servedGrants } from '../lib/objects/grant-kinds.ts';
import type { NeedsAction } from '../lib/objects/wait.ts';
import { diagnoseClaim } from './claim/diagnose.ts';
import { readClaim } from './claim/read.ts';
import { besideDaemons, readDaemons } from './daemon.ts';
import type { Reason } from './reasons.ts';
import { diagnoseSnapshot } from './snapshot/diagnose.ts';
import { readSnapshot } from './snapshot/read.ts';
import type { Blocker, Diagnosis } from './types.ts';

/**
 * Causes that only a person can remove. A missing claim, grant or snapshot is not among them:
 * others may create it meanwhile.
 */
const NEEDS_ACTION: ReadonlySet<Reason> = new Set<Reason>([
  'ControllerOff',
  'GateOff',
  'SourceDropped',
  'SourceRefused',
  'ClaimTooSmall',
  'StorageClassMissing',
  'StorageClassInvalid',
  'ForeignProvisioner',
  'NoConsumer',
  'SchedulerBypassed',
  'AttributesClassRefused',
  'SnapshotClassMissing',
  'ContentMismatch',
]);

/**
 * Returns the error that ends a wait early, with a remedy; undefined if the object may proceed by
 * itself. Reads daemons only if they decide that, rather than at each check. Throws a StowageError.
 */
export async function needsAction(
  diagnosis: Diagnosis,
  object: ErrorObject & { namespace: string },
  client: KubeClient,
  now: number,
  signal: AbortSignal,
): Promise<StowageError | undefined> {
  if ('nothing' in diagnosis) return undefined;
  const { cause, fix } = diagnosis;
  if (cause !== 'NotTakenUp' && fix?.daemonFlags === undefined) return errorOf(diagnosis, object);
  const daemons = await readDaemons(client, signal);
  return errorOf(besideDaemons(daemons, diagnosis, { kind: object.kind ?? '' }, now), object);
}

/** Does the same for a claim. Throws a StowageError. */
export const claimNeedsAction: NeedsAction = async (object, connection, now, signal) => {
  const { namespace, name } = object;
  const { client } = connection;
  const options = { namespace, signal };
  const claim = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, options);
  const grants = () => servedGrants(connection, signal);
  const facts = await readClaim(claim, client, grants, signal, now);
  return needsAction(diagnoseClaim(facts, now), object, client, now, signal);
};

/** Does the same for a snapshot. Throws a StowageError. */
export const snapshotNeedsAction: NeedsAction = async (object, { client }, now, signal) => {
  const { namespace, name } = object;
  const options = { namespace, signal };
  const snapshot = await client.get<VolumeSnapshot>(VOLUME_SNAPSHOTS, name, options);
  const found = diagnoseSnapshot(await readSnapshot(snapshot, client, signal));
  return needsAction(found, object, client, now, signal);
};

function errorOf(
  diagnosis: Blocker,
  object: ErrorObject & { namespace: string },
): StowageError | undefined {
  if (!NEEDS_ACTION.has(diagnosis.cause)) return undefined;
  const { holdup, fix } = diagnosis;
  const { kind, namespace, name } = object;
  // A colon marks the first command, too, as one: hintInCluster adds the cluster to it.
  const hint =
    fix?.run === undefined ? fix?.say : `${fix.say.replace(/[.:]$/, '')}: ${fix.run.join('; ')}`;
  const shown =
    fix?.manifest === undefined
      ? ''
      : ` To print the manifest: ${commandLine('stowage', 'why', kind?.toLowerCase() ?? '', `${namespace}/${name}`)}`;
  return new StowageError(
    'conflict',
    `${kind} ${namespace}/${name} needs manual action: ${holdup}`,
    {
      ...(hint === undefined ? {} : { hint: `${hint}${shown}` }),
      object,
    },
  );
}
