import type { Command } from 'commander';
import { addGetCommand } from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { POPULATOR_NAMES } from '../lib/resource-names.ts';

export default function getPopulators(get: Command, io: Io): void {
  addGetCommand(get, io, {
    nouns: POPULATOR_NAMES,
    description: 'show from which kinds volumes are filled, by what, and for which claims',
    names: 'names under which they are registered (default: all)',
    view: async () => (await import('../populators/view.ts')).POPULATOR_VIEW,
  });
}
