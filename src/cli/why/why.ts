import type { PersistentVolumeClaim } from '../../api/core.ts';
import { phaseOf } from '../../api/phase.ts';
import { PERSISTENT_VOLUME_CLAIMS, PODS, VOLUME_SNAPSHOTS, VOLUMES } from '../../api/resources.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import type { Connection } from '../../kube/connect.ts';
import type { GlobalFlags } from '../globals.ts';
import { servedGrants } from '../grants/kinds.ts';
import type { Io } from '../io.ts';
import { asJson, asYaml } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { missingKind } from '../snapshots/missing-kind.ts';
import { phaseOf as snapshotPhase } from '../snapshots/state.ts';
import { diagnoseClaim } from './claim/diagnose.ts';
import { readClaim } from './claim/read.ts';
import { diagnose } from './diagnose.ts';
import { diagnosePod } from './pod/diagnose.ts';
import { readPod } from './pod/read.ts';
import { readKnown } from './read.ts';
import { diagnoseSnapshot } from './snapshot/diagnose.ts';
import { readSnapshot } from './snapshot/read.ts';
import type { Target } from './target.ts';
import { explanation, type Subject } from './text.ts';
import type { Diagnosis } from './types.ts';

export interface WhyFlags {
  output?: 'json' | 'yaml';
}

/** `stowage why`. Throws a StowageError. */
export async function why(
  target: Target,
  flags: WhyFlags & GlobalFlags,
  io: Io,
  connection: Connection,
): Promise<void> {
  const now = io.clock.now();
  const { client } = connection;
  const { name, namespace = connection.namespace } = target;
  const { signal } = io;
  const grants = () => servedGrants(connection, signal);
  if (target.kind === 'Volume') {
    const volume = await client.get<Volume>(VOLUMES, name, { signal: io.signal });
    const known = await readKnown(client, volume, io.signal);
    noteForbidden([known], io);
    const phase = phaseOf(volume) ?? 'Unknown';
    return print({ kind: 'Volume', name, phase }, diagnose(known, now), flags, io);
  }
  if (target.kind === 'PersistentVolumeClaim') {
    const claim = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, {
      namespace,
      signal,
    });
    const known = await readClaim(claim, client, grants, signal);
    noteForbidden([{ ...known, ...known.supply, ...known.known }], io);
    const phase = claim.metadata.deletionTimestamp === undefined ? claim.status?.phase : 'Terminating';
    const subject = { kind: target.kind, name, namespace, phase: phase ?? 'Pending' };
    return print(subject, diagnoseClaim(known, now), flags, io);
  }
  if (target.kind === 'VolumeSnapshot') {
    const options = { namespace, signal };
    const snapshot = await client.get<VolumeSnapshot>(VOLUME_SNAPSHOTS, name, options).catch(missingKind);
    const known = await readSnapshot(snapshot, client, signal);
    noteForbidden([known], io);
    const subject = { kind: target.kind, name, namespace, phase: snapshotPhase(snapshot) };
    return print(subject, diagnoseSnapshot(known), flags, io);
  }
  const known = await readPod(name, namespace, client, grants, signal);
  const parts = known.volumes.map(({ claim, pv, volume, dynamic }) => ({
    claim,
    pv,
    ...(volume && { volume }),
    ...dynamic,
  }));
  noteForbidden([{ node: known.node }, ...parts, { ...known.supply }], io);
  const { metadata, status } = known.pod;
  const { namespace: own = '' } = metadata;
  const subject = { kind: PODS.kind, name, namespace: own, phase: status?.phase ?? 'Unknown' };
  return print(subject, diagnosePod(known, now), flags, io);
}

/** Says once of each what the user may not read. */
function noteForbidden(all: readonly object[], io: Io): void {
  const forbidden = all
    .flatMap((parts) => Object.values(parts))
    .flatMap((part: unknown) =>
      typeof part === 'object' && part !== null && 'forbidden' in part ? [String(part.forbidden)] : [],
    );
  for (const text of new Set(forbidden)) io.stderr.write(`note: not looked at: ${printable(text)}\n`);
}

function print(subject: Subject, diagnosis: Diagnosis, { output }: WhyFlags, io: Io): void {
  const data = { ...subject, ...diagnosis };
  if (output === 'json') io.stdout.write(asJson(data));
  else if (output === 'yaml') io.stdout.write(asYaml(data));
  else io.stdout.write(explanation(subject, diagnosis, io.clock.now()));
}
