import type { Lease } from '../../api/core.ts';
import { leadingBeside } from '../../api/leader.ts';
import type { Connection } from '../../kube/connect.ts';
import { about, conclude } from '../lib/batch.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import { hintInCluster, inCluster } from '../lib/in-cluster.ts';
import type { Io } from '../lib/io.ts';
import type { ReadClient } from '../lib/objects/related.ts';
import { printable } from '../lib/output/printable.ts';
import { foundIn } from '../lib/read-result.ts';
import type { Target } from '../lib/target.ts';
import { asksForDaemons, besideDaemons, readDaemons } from './daemon.ts';
import { clusterOf, explain } from './explain.ts';
import { print } from './print.ts';
import type { Blocker, Diagnosis, Explained, Fix, WhyFlags } from './types.ts';

/** Runs `stowage why`. Throws a StowageError, after all other targets are explained. */
export async function why(
  targets: readonly Target[],
  flags: WhyFlags & GlobalFlags,
  io: Io,
  connection: Connection,
): Promise<void> {
  const { client } = connection;
  const cluster = clusterOf(connection, client, io.signal);
  const explained: Explained[] = [];
  const errors: unknown[] = [];
  for (const target of targets) {
    try {
      explained.push(await explain(target, io, cluster));
    } catch (error) {
      if (io.signal.aborted) throw error;
      errors.push(about(error, target));
    }
  }
  const found = await withDaemonFacts(explained, io, client);
  const shown = found.map(({ subject, diagnosis }) => ({
    subject,
    diagnosis: diagnosedIn(flags, diagnosis),
  }));
  print(shown, targets.length > 1, flags, io);
  conclude(errors, targets.length, io);
}

/** Returns the blocker of an explained object in one line; undefined if nothing holds it up. */
export async function blockedBy(
  explained: Explained,
  io: Io,
  client: ReadClient,
): Promise<string | undefined> {
  const [found] = await withDaemonFacts([explained], io, client);
  return found === undefined || 'nothing' in found.diagnosis
    ? undefined
    : `${found.diagnosis.cause}: ${found.diagnosis.holdup}`;
}

/**
 * Returns the diagnoses, completed or replaced by facts about daemons if they depend on them.
 * Prints notes on what was not checked.
 */
async function withDaemonFacts(
  explained: readonly Explained[],
  io: Io,
  client: ReadClient,
): Promise<Explained[]> {
  const readings = explained.flatMap((each) => each.readings);
  if (!explained.some(({ diagnosis }) => dependsOnDaemons(diagnosis))) {
    noteForbidden(readings, io);
    return [...explained];
  }
  const daemons = await readDaemons(client, io.signal);
  noteForbidden([...readings, { leases: daemons.leases }], io);
  const now = io.clock.timeOfDay();
  noteSecond(foundIn(daemons.leases) ?? [], now, io);
  return explained.map((each) => {
    const { diagnosis, subject, node } = each;
    if (!dependsOnDaemons(diagnosis)) return each;
    return {
      ...each,
      diagnosis: besideDaemons(daemons, diagnosis, { kind: subject.kind, node }, now),
    };
  });
}

const dependsOnDaemons = (diagnosis: Diagnosis): diagnosis is Blocker =>
  !('nothing' in diagnosis) && asksForDaemons(diagnosis);

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

/** Returns a diagnosis with commands of its fixes for the cluster of the command line. Pure. */
export function diagnosedIn(flags: GlobalFlags, diagnosis: Diagnosis): Diagnosis {
  if ('nothing' in diagnosis) {
    const { nothing, fix } = diagnosis;
    return { nothing, ...(fix && { fix: fixIn(flags, fix) }) };
  }
  const { fix, sharedFix } = diagnosis;
  return {
    ...diagnosis,
    ...(fix && { fix: fixIn(flags, fix) }),
    ...(sharedFix && { sharedFix: fixIn(flags, sharedFix) }),
  };
}

const fixIn = (flags: GlobalFlags, fix: Fix): Fix => ({
  ...fix,
  say: hintInCluster(flags)(fix.say),
  ...(fix.run && { run: fix.run.map(inCluster(flags)) }),
});
