import { StowageError } from '../../api/errors.ts';
import { VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import { about, conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { selected } from '../objects/selector.ts';
import { watchObjects } from '../objects/watch.ts';
import { asJson, asYaml, listOf } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { watchPrinter } from '../output/watch-printer.ts';
import { missingKind } from './missing-kind.ts';
import { type SnapshotSortField, sortSnapshots } from './sort.ts';
import { snapshotName } from './state.ts';
import { snapshotRows } from './table.ts';

export interface GetSnapshotsFlags {
  output?: 'json' | 'yaml' | 'name' | 'wide';
  selector?: string;
  allNamespaces?: boolean;
  sortBy?: SnapshotSortField;
  watch?: boolean;
  /** Whether tables have them. */
  headers: boolean;
}

/** `stowage get snapshots`. Throws a StowageError; with --watch it ends only by the signal, which it throws. */
export async function getSnapshots(
  names: readonly string[],
  flags: GetSnapshotsFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<Connection>,
): Promise<void> {
  if (names.length > 0 && (flags.selector !== undefined || flags.allNamespaces)) {
    throw new StowageError('usage', 'Names are of one namespace, and given without --selector');
  }
  const { client, namespace: own } = await connect();
  const where = flags.allNamespaces ? {} : { namespace: own };
  const { snapshots, errors } = await read();
  const sort = (all: readonly VolumeSnapshot[]) =>
    flags.sortBy === undefined ? [...all] : sortSnapshots(all, flags.sortBy);
  const sorted = sort(snapshots);
  if (flags.watch && errors.length === 0) {
    const printer = watchPrinter(
      snapshotRows(flags.allNamespaces ?? false),
      { ...flags, sort },
      io,
    );
    const select = flags.selector === undefined ? {} : { selector: flags.selector };
    const options = { ...where, ...select, names, isWanted: () => true };
    return watchObjects(client, VOLUME_SNAPSHOTS, sorted, options, printer, io);
  }
  print(sorted, names.length, errors.length > 0, flags, io);
  conclude(errors, names.length, io);

  async function read(): Promise<{ snapshots: VolumeSnapshot[]; errors: unknown[] }> {
    const options = { ...where, signal: io.signal };
    if (names.length === 0) {
      const { selector } = flags;
      const list = listAll<VolumeSnapshot>(client, VOLUME_SNAPSHOTS, {
        ...options,
        labelSelector: selector,
      });
      return { snapshots: (await selected(selector, list).catch(missingKind)).items, errors: [] };
    }
    const snapshots: VolumeSnapshot[] = [];
    const errors: unknown[] = [];
    for (const name of names) {
      try {
        snapshots.push(
          await client.get<VolumeSnapshot>(VOLUME_SNAPSHOTS, name, options).catch(missingKind),
        );
      } catch (error) {
        if (io.signal.aborted) throw error;
        errors.push(about(error, { kind: VOLUME_SNAPSHOTS.kind, name, namespace: own }));
      }
    }
    return { snapshots, errors };
  }
}

function print(
  snapshots: readonly VolumeSnapshot[],
  asked: number,
  failed: boolean,
  { output, headers, allNamespaces = false }: GetSnapshotsFlags,
  io: Io,
): void {
  const data = () => (asked === 1 && snapshots[0] !== undefined ? snapshots[0] : listOf(snapshots));
  if (failed && snapshots.length === 0) return;
  if (output === 'json') io.stdout.write(asJson(data()));
  else if (output === 'yaml') io.stdout.write(asYaml(data()));
  else if (snapshots.length === 0) io.stderr.write('No snapshots found\n');
  else if (output === 'name') {
    for (const { metadata } of snapshots)
      io.stdout.write(`${printable(snapshotName(metadata.name))}\n`);
  } else {
    const wide = output === 'wide';
    const as = snapshotRows(allNamespaces);
    const rows = snapshots.map((snapshot) => as.row(snapshot, wide, io.clock.now(), false));
    const width = wide ? undefined : io.stdout.columns;
    io.stdout.write(table(as.headings(wide), rows, { headings: headers, width }));
  }
}
