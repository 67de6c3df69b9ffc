import { age } from '../../api/age.ts';
import type { PersistentVolumeClaim } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import { kindText, type PopulatorDefinition, type VolumePopulator } from '../../api/populator.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  POPULATOR_DEFINITIONS,
  VOLUME_POPULATORS,
} from '../../api/resources.ts';
import { about } from '../lib/batch.ts';
import { listReadable } from '../lib/get/list-readable.ts';
import type { ResourceView } from '../lib/get/resource-view.ts';
import { nameIn } from '../lib/objects/name.ts';
import { fillsLinks } from './links.ts';
import { type PopulatorRow, rowsOf } from './row.ts';
import { watchPopulators } from './watch.ts';

const name = (row: PopulatorRow) => row.name;
const keyOf = ({ name, group, kind }: PopulatorRow) => `${name} ${kind}.${group}`;

/** View of `stowage get populators`: kinds of data sources, their populators, and their claims. */
export const POPULATOR_VIEW: ResourceView<PopulatorRow> = {
  plural: 'populators',
  filters: [],
  columns: [
    ['NAME', name],
    ['KIND', kindText],
    ['BY', filler, 'state'],
    ['WAITING', (row) => claimsOf(row, true)],
    ['FILLED', (row) => claimsOf(row, false)],
    ['AGE', ({ since }, now) => age(since, now)],
  ],
  keyOf,
  nameOf({ name, image, builtin }) {
    const isOthers = (image ?? builtin) === undefined;
    return nameIn(isOthers ? VOLUME_POPULATORS : POPULATOR_DEFINITIONS, name);
  },
  sort: { by: { name }, ties: [], standard: 'name' },
  async get(request) {
    const { names, flags, io, connection } = request;
    const { client } = connection;
    const all = rowsOf(
      await listReadable<PopulatorDefinition>(client, POPULATOR_DEFINITIONS, io),
      await listReadable<VolumePopulator>(client, VOLUME_POPULATORS, io),
      await listReadable<PersistentVolumeClaim>(client, PERSISTENT_VOLUME_CLAIMS, io),
      await fillsLinks(client, io),
    );
    const missing = names.filter((name) => !all.some((row) => row.name === name));
    if (flags.watch && missing.length === 0) return watchPopulators(request, keyOf);
    const rows = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
    const errors = missing.map((name) =>
      about(new StowageError('not-found', `No populator is registered as ${name}`), {
        kind: POPULATOR_DEFINITIONS.kind,
        name,
      }),
    );
    request.show(rows, errors);
  },
};

function filler({ image, provisioner, builtin, registered }: PopulatorRow): string {
  const node = builtin === undefined ? '(others)' : `(on the node, ${builtin})`;
  const by = image ?? provisioner ?? node;
  return registered ? by : `${by}, without a VolumePopulator`;
}

const claimsOf = ({ claims }: PopulatorRow, waits: boolean): string =>
  claims
    .filter((use) => use.waits === waits)
    .map(({ namespace, name }) => `${namespace}/${name}`)
    .join(', ');
