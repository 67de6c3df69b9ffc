import type { Lease } from '../../api/core.ts';
import { leadingBeside } from '../../api/leader.ts';
import type { Connection } from '../../kube/connect.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import { inCluster } from '../lib/in-cluster.ts';
import type { Io } from '../lib/io.ts';
import { printable } from '../lib/output/printable.ts';
import { foundIn } from '../lib/read-result.ts';
import type { Target } from '../lib/target.ts';
import { asksForDaemons, besideDaemons, readDaemons } from './daemon.ts';
import { clusterOf, explain } from './explain.ts';
import { print } from './print.ts';
import type { Diagnosis, WhyFlags } from './types.ts';

/** Runs `stowage why`. Throws a StowageError. */
export async function why(
  target: Target,
  flags: WhyFlags & GlobalFlags,
  io: Io,
  connection: Connection,
): Promise<void> {
  const explained = await explain(target, io, clusterOf(connection, connection.client, io.signal));
  const { diagnosis, looked, node, subject } = explained;
  const { client } = connection;
  const show = (found: Diagnosis) => print(subject, diagnosedIn(flags, found), flags, io);
  if ('nothing' in diagnosis || !asksForDaemons(diagnosis)) {
    noteForbidden(looked, io);
    return show(diagnosis);
  }
  const daemons = await readDaemons(client, io.signal);
  noteForbidden([...looked, { leases: daemons.leases }], io);
  const now = io.clock.now();
  noteSecond(foundIn(daemons.leases) ?? [], now, io);
  show(besideDaemons(daemons, diagnosis, { kind: target.kind, node }, now));
}

/** Prints a note if two daemons act at once, whatever the diagnosis. */
function noteSecond(leases: readonly Lease[], now: number, io: Io): void {
  const leading = leadingBeside(leases, '', now).map(
    ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
  );
  if (leading.length < 2) return;
  const note = `note: ${leading.length} daemons lead at once, with the Leases ${leading.join(' and ')}: stop all but one`;
  io.stderr.write(`${printable(note)}\n`);
}

/** Prints one note for each refusal. */
export function noteForbidden(all: readonly object[], io: Io): void {
  const forbidden = all
    .flatMap((parts) => Object.values(parts))
    .flatMap((part: unknown) =>
      typeof part === 'object' && part !== null && 'forbidden' in part
        ? [String(part.forbidden)]
        : [],
    );
  for (const text of new Set(forbidden)) io.stderr.write(`note: not checked: ${printable(text)}\n`);
}

/** Returns a diagnosis with commands for the cluster of the command line. Pure. */
export function diagnosedIn(flags: GlobalFlags, diagnosis: Diagnosis): Diagnosis {
  if ('nothing' in diagnosis || diagnosis.fix?.run === undefined) return diagnosis;
  return { ...diagnosis, fix: { ...diagnosis.fix, run: diagnosis.fix.run.map(inCluster(flags)) } };
}
