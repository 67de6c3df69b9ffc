import type { Command } from 'commander';
import {
  addGetCommand,
  allNamespacesOption,
  type GetKind,
  selectorOption,
  sortOption,
} from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { SNAPSHOT_NAMES } from '../lib/resource-names.ts';

export default function getSnapshots(get: Command, io: Io): GetKind {
  return addGetCommand(get, io, {
    nouns: SNAPSHOT_NAMES,
    description: 'list VolumeSnapshots',
    names: 'names of VolumeSnapshots (default: all of the namespace)',
    examples: ['stowage get snapshots -A --sort-by age'],
    options: [allNamespacesOption(), selectorOption(), sortOption('name', 'age', 'size', 'phase')],
    view: async () => (await import('../snapshots/view.ts')).SNAPSHOT_VIEW,
  });
}
