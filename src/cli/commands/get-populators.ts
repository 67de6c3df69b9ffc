import type { Command } from 'commander';
import { addGetCommand, type GetKind } from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { POPULATOR_NAMES } from '../lib/resource-names.ts';

export default function getPopulators(get: Command, io: Io): GetKind {
  return addGetCommand(get, io, {
    nouns: POPULATOR_NAMES,
    description: 'list the kinds that volumes are filled from, their populators, and their claims',
    names: 'names of populators (default: all)',
    examples: ['stowage get populators'],
    view: async () => (await import('../populators/view.ts')).POPULATOR_VIEW,
  });
}
