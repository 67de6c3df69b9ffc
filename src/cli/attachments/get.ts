import { StowageError } from '../../api/errors.ts';
import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import type { KubeClient } from '../../kube/types.ts';
import { conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { watchObjects } from '../objects/watch.ts';
import { asJson, asYaml } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { watchPrinter } from '../output/watch-printer.ts';
import { readVolumes } from '../volume/get.ts';
import {
  type AttachmentRow,
  type AttachmentSortField,
  attachmentRows,
  sortAttachments,
} from './row.ts';
import { AS_ROWS } from './table.ts';
import { byVolume } from './watch.ts';

export interface GetAttachmentsFlags {
  output?: 'json' | 'yaml' | 'name' | 'wide';
  selector?: string;
  node?: string[];
  sortBy?: AttachmentSortField;
  watch?: boolean;
  /** Whether tables have them. */
  headers: boolean;
}

/**
 * `stowage get attachments`: where the devices of Volumes are, as the Volumes say it. `names` are of Volumes. Throws a
 * StowageError; with --watch it ends only by the signal, which it throws.
 */
export async function getAttachments(
  names: readonly string[],
  flags: GetAttachmentsFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  if (names.length > 0 && flags.selector !== undefined) {
    throw new StowageError('usage', 'Names and --selector cannot be given together');
  }
  const { node, sortBy = 'volume' } = flags;
  const select = flags.selector === undefined ? {} : { selector: flags.selector };
  const client = await connect();
  const { errors, volumes } = await readVolumes(names, select, io, client);
  if (flags.watch && errors.length === 0) {
    const sort = (rows: readonly AttachmentRow[]) => sortAttachments(rows, sortBy);
    const printer = byVolume(watchPrinter(AS_ROWS, { ...flags, sort }, io), node, io.clock);
    const isWanted = () => true;
    return watchObjects(client, VOLUMES, volumes, { ...select, names, isWanted }, printer, io);
  }
  if (errors.length === 0 || volumes.length > 0) print(volumes, flags, sortBy, io);
  conclude(errors, names.length, io);
}

/** A Volume may have several, or none: data is a list, also of one name. */
function print(
  volumes: readonly Volume[],
  { output, headers, node }: GetAttachmentsFlags,
  sortBy: AttachmentSortField,
  io: Io,
): void {
  const items = sortAttachments(attachmentRows(volumes, node), sortBy);
  if (output === 'json') io.stdout.write(asJson({ items }));
  else if (output === 'yaml') io.stdout.write(asYaml({ items }));
  else if (items.length === 0) io.stderr.write('No attachments found\n');
  else if (output === 'name')
    for (const row of items) io.stdout.write(`${printable(AS_ROWS.nameOf(row))}\n`);
  else {
    const wide = output === 'wide';
    const rows = items.map((row) => AS_ROWS.row(row, wide, io.clock.now(), false));
    const width = wide ? undefined : io.stdout.columns;
    io.stdout.write(table(AS_ROWS.headings(wide), rows, { headings: headers, width }));
  }
}
