import type { Command } from 'commander';
import {
  addGetCommand,
  type GetKind,
  nodeOption,
  selectorOption,
  sortOption,
} from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { VOLUME_NAMES } from '../lib/resource-names.ts';

export default function getVolumes(get: Command, io: Io): GetKind {
  return addGetCommand(get, io, {
    nouns: VOLUME_NAMES,
    description: 'list Volumes',
    names: 'names of Volumes (default: all)',
    examples: [
      'stowage get volumes --node n1 --sort-by capacity',
      '# Names only',
      "stowage get volumes -o jsonpath='{.items[*].metadata.name}'",
      '# Follow changes',
      'stowage get volumes -w',
    ],
    options: [
      nodeOption(),
      selectorOption(),
      sortOption('name', 'node', 'age', 'capacity', 'phase'),
    ],
    view: async () => (await import('../volume/view.ts')).VOLUME_VIEW,
  });
}
