import { phaseOf } from '../../api/phase.ts';
import { PODS, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { asJson, asYaml } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { diagnose } from './diagnose.ts';
import { diagnosePod } from './pod/diagnose.ts';
import { readPod } from './pod/read.ts';
import { readKnown } from './read.ts';
import type { Target } from './target.ts';
import { explanation, type Subject } from './text.ts';
import type { Diagnosis } from './types.ts';

export interface WhyFlags {
  output?: 'json' | 'yaml';
}

/** `stowage why`. `namespace`: of what does not say its own. Throws a StowageError. */
export async function why(
  target: Target,
  namespace: string,
  flags: WhyFlags & GlobalFlags,
  io: Io,
  client: KubeClient,
): Promise<void> {
  const now = io.clock.now();
  const { name } = target;
  if (target.kind === 'Volume') {
    const volume = await client.get<Volume>(VOLUMES, name, { signal: io.signal });
    const known = await readKnown(client, volume, io.signal);
    noteForbidden([known], io);
    const phase = phaseOf(volume) ?? 'Unknown';
    return print({ kind: 'Volume', name, phase }, diagnose(known, now), flags, io);
  }
  const known = await readPod(name, target.namespace ?? namespace, client, io.signal);
  const parts = known.volumes.map(({ claim, pv, volume }) => ({ claim, pv, ...(volume && { volume }) }));
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
    .flatMap((part: object) => ('forbidden' in part ? [String(part.forbidden)] : []));
  for (const text of new Set(forbidden)) io.stderr.write(`note: not looked at: ${printable(text)}\n`);
}

function print(subject: Subject, diagnosis: Diagnosis, { output }: WhyFlags, io: Io): void {
  const data = { ...subject, ...diagnosis };
  if (output === 'json') io.stdout.write(asJson(data));
  else if (output === 'yaml') io.stdout.write(asYaml(data));
  else io.stdout.write(explanation(subject, diagnosis, io.clock.now()));
}
