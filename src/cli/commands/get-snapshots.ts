import type { Command } from 'commander';
import {
  addGetCommand,
  allNamespacesOption,
  selectorOption,
  sortOption,
} from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { SNAPSHOT_NOUNS } from '../lib/nouns.ts';

export default function getSnapshots(get: Command, io: Io): void {
  addGetCommand(get, io, {
    nouns: SNAPSHOT_NOUNS,
    description: 'show VolumeSnapshots',
    names: 'names of VolumeSnapshots (default: all of the namespace)',
    options: [allNamespacesOption(), selectorOption(), sortOption('name', 'age', 'size', 'phase')],
    view: async () => (await import('../snapshots/view.ts')).SNAPSHOT_VIEW,
  });
}
