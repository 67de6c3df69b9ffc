import { type ErrorObject, StowageError } from '../../api/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { commandLine } from '../why/command-line.ts';
import { besideDaemons, readDaemons } from '../why/daemon.ts';
import type { Reason } from '../why/reasons.ts';
import type { Blocker, Diagnosis } from '../why/types.ts';

/** Causes that only a person can remove. A missing claim, grant or snapshot is not among them: others may create it meanwhile. */
const BY_HAND: ReadonlySet<Reason> = new Set<Reason>([
  'ControllerOff',
  'GateOff',
  'SourceDropped',
  'SourceRefused',
  'ClaimTooSmall',
  'StorageClassMissing',
  'StorageClassInvalid',
  'ForeignProvisioner',
  'NoConsumer',
  'SnapshotClassMissing',
  'ContentMismatch',
]);

/**
 * Returns the error that ends a wait early, with what helps; undefined where the object may go on by itself. Daemons are read where
 * they decide that, and not for each look. Throws a StowageError.
 */
export async function hopeless(
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

function errorOf(
  diagnosis: Blocker,
  object: ErrorObject & { namespace: string },
): StowageError | undefined {
  if (!BY_HAND.has(diagnosis.cause)) return undefined;
  const { holdup, fix } = diagnosis;
  const { kind, namespace, name } = object;
  const run = fix?.run === undefined ? '' : ` ${fix.run.join('; ')}`;
  const shown =
    fix?.manifest === undefined
      ? ''
      : ` As printed by: ${commandLine('stowage', 'why', kind?.toLowerCase() ?? '', `${namespace}/${name}`)}`;
  return new StowageError(
    'conflict',
    `${kind} ${namespace}/${name} waits for somebody to act: ${holdup}`,
    {
      ...(fix === undefined ? {} : { hint: `${fix.say}${run}${shown}` }),
      object,
    },
  );
}
