import type { CsiStorageCapacity, StorageClass } from '../../api/core.ts';
import { DRIVER, MAX_WAIT_FOR_UNMOUNT_ANNOTATION } from '../../api/names.ts';
import { phaseOf } from '../../api/phase.ts';
import { CSI_STORAGE_CAPACITIES, STORAGE_CLASSES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { maxWaitProblem } from '../../controllers/attachdetach/max-wait.ts';
import { CAPACITY_SELECTOR } from '../../controllers/lib/capacity/capacity.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { claimOf } from '../../model/claim-volume.ts';
import { checkClass } from '../../model/class-options.ts';
import { type DynamicClass, dynamicClass } from '../../model/dynamic-class.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import type { Describe } from '../lib/describe-command.ts';
import {
  freeText,
  given,
  headFields,
  pairs,
  shown,
  tableField,
} from '../lib/objects/description.ts';
import { type Field, type FieldValue, fields } from '../lib/output/fields.ts';
import { readableSize } from '../lib/output/size.ts';
import { type Reading, reading } from '../lib/read-result.ts';
import { isDefault, isOfVolumes, PROVISIONING } from './served.ts';

/** Returns what `stowage describe storageclass` prints. Throws a StowageError. */
export const describeStorageClass: Describe = async ({ name }, { signal, clock }, { client }) => {
  const found = await client.get<StorageClass>(STORAGE_CLASSES, name, { signal });
  const volumes = await readVolumes(name, client, signal);
  const isDynamic = found.provisioner === DRIVER;
  return fields([
    ...headFields(found, clock.now()),
    ['Kind', isOfVolumes(found) ? PROVISIONING[found.provisioner] : undefined],
    ['Provisioner', found.provisioner],
    ['Default', isDefault(found) ? 'yes' : 'no'],
    ['Usable', usable(found)],
    ...optionFields(found),
    ['Mount options', found.mountOptions?.join(',')],
    ['Reclaim policy', found.reclaimPolicy],
    ['Binding mode', found.volumeBindingMode ?? 'Immediate'],
    ['Expansion', found.allowVolumeExpansion ? 'allowed' : 'not allowed'],
    ...topologyFields(found),
    ...given('Max wait for unmount', maxWaitText(found)),
    ['Volumes', shown(volumes, volumeTable)],
    ...(isDynamic
      ? [['Free space', shown(await readRooms(name, client, signal), roomTable)] satisfies Field]
      : []),
  ]);
};

/** Returns whether Volumes can have the class, else why they cannot. */
function usable(found: StorageClass): FieldValue {
  const { provisioner } = found;
  if (!isOfVolumes(found)) return `no: provisioner ${provisioner} is not Stowage's`;
  const problems = [
    provisioner === DRIVER ? dynamicClass(found) : undefined,
    // A Volume of mode Block gets no file system, and can have such a class.
    checkClass(found),
  ].flatMap((checked) => (checked !== undefined && 'problem' in checked ? [checked.problem] : []));
  return problems.length === 0 ? 'yes' : problems.map((problem) => `no: ${problem}`);
}

/** Returns the parameters as Stowage reads them, or as they are if it cannot. */
function optionFields(found: StorageClass): Field[] {
  const raw: Field = ['Parameters', pairs(found.parameters)];
  const options = found.provisioner === DRIVER ? dynamicClass(found) : undefined;
  const checked = checkClass(found);
  if (!isOfVolumes(found) || 'problem' in checked) return [raw];
  if (options !== undefined && 'problem' in options) return [raw];
  return [
    ...(options === undefined ? [] : dynamicFields(options)),
    ['File system', checked.fs?.type],
    ['mkfs options', checked.fs?.options.join(' ')],
  ];
}

const dynamicFields = ({ place, overcommit, wipe, attachPolicy }: DynamicClass): Field[] => [
  ['Type', place.type],
  ...(place.type === 'sparse'
    ? ([
        ['Directory', place.directory],
        ['Must be mounted', place.requireMount ? 'yes' : 'no'],
      ] satisfies Field[])
    : ([
        ['Volume group', place.vgName],
        ['Thin pool', place.thinPool],
        ['Overwrites free extents', place.overwrite ? 'yes' : 'no'],
      ] satisfies Field[])),
  ['Overcommit', String(overcommit)],
  ['Wipes deleted volumes', wipe ? 'yes' : 'no'],
  ['Attach policy', attachPolicy ?? 'Always'],
];

/** Returns how long a NotReady node keeps its volumes, or what is wrong with the annotation. */
const maxWaitText = (found: StorageClass): string | undefined =>
  maxWaitProblem(found) ?? found.metadata.annotations?.[MAX_WAIT_FOR_UNMOUNT_ANNOTATION];

/** Returns the nodes that the class allows: terms are alternatives. */
function topologyFields({ allowedTopologies = [] }: StorageClass): Field[] {
  const terms = allowedTopologies.map(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.map(({ key, values }) => `${key} in (${values.join(', ')})`).join(', '),
  );
  return terms.length === 0 ? [] : [['Allowed nodes', terms]];
}

/** Reads the Volumes that name the class. */
async function readVolumes(
  name: string,
  client: KubeClient,
  signal: AbortSignal,
): Promise<Reading<Volume[]>> {
  const list = listAll<Volume>(client, VOLUMES, { signal });
  const isOf = ({ spec }: Volume) => spec.storageClassName === name;
  return reading(list.then(({ items }) => items.filter(isOf)));
}

const volumeTable = (volumes: readonly Volume[]): FieldValue =>
  tableField(
    ['NAME', 'PHASE', 'CAPACITY', 'NODE', 'CLAIM'],
    volumes.map((volume) => {
      const claim = claimOf(volume);
      return [
        volume.metadata.name,
        phaseOf(volume) ?? 'Unknown',
        volume.status?.capacity && readableSize(volume.status.capacity),
        nodeOf(volume),
        claim && `${claim.namespace}/${claim.name}`,
      ];
    }),
  );

/** Reads the free space per node that the daemon publishes for the scheduler. */
async function readRooms(
  name: string,
  client: KubeClient,
  signal: AbortSignal,
): Promise<Reading<CsiStorageCapacity[]>> {
  const list = listAll<CsiStorageCapacity>(client, CSI_STORAGE_CAPACITIES, {
    labelSelector: CAPACITY_SELECTOR,
    signal,
  });
  const isOf = ({ storageClassName }: CsiStorageCapacity) => storageClassName === name;
  return reading(list.then(({ items }) => items.filter(isOf)));
}

const roomTable = (rooms: readonly CsiStorageCapacity[]): FieldValue =>
  tableField(
    ['HOSTNAME', 'FREE'],
    rooms.map(({ nodeTopology, capacity }) => [
      nodeTopology?.matchLabels?.['kubernetes.io/hostname'],
      freeText(capacity),
    ]),
  );
