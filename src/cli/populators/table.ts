import { age } from '../../api/age.ts';
import { kindText } from '../../api/populator.ts';
import { POPULATOR_DEFINITIONS, VOLUME_POPULATORS } from '../../api/resources.ts';
import type { Shown } from '../output/watch-printer.ts';
import type { PopulatorRow } from './row.ts';

export const POPULATOR_ROWS: Shown<PopulatorRow> = {
  keyOf: ({ name, group, kind }) => `${name} ${kind}.${group}`,
  nameOf({ name, image, builtin }) {
    const isOthers = (image ?? builtin) === undefined;
    const { plural: _, kind, group } = isOthers ? VOLUME_POPULATORS : POPULATOR_DEFINITIONS;
    return `${kind.toLowerCase()}.${group}/${name}`;
  },
  headings: () => ['NAME', 'KIND', 'BY', 'WAITING', 'FILLED', 'AGE'],
  row: (row, _wide, now, gone) => cellsOf(row, gone, now),
};

function cellsOf(row: PopulatorRow, gone: boolean, now: number): (string | undefined)[] {
  const listed = (waits: boolean) =>
    row.claims
      .filter((use) => use.waits === waits)
      .map(({ namespace, name }) => `${namespace}/${name}`)
      .join(', ');
  const node = row.builtin === undefined ? '(others)' : `(on the node, ${row.builtin})`;
  const by = row.image ?? row.provisioner ?? node;
  return [
    row.name,
    kindText(row),
    gone ? 'Gone' : row.registered ? by : `${by}, without a VolumePopulator`,
    listed(true),
    listed(false),
    age(row.since, now),
  ];
}
