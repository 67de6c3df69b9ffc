import { isDeepStrictEqual } from 'node:util';
import { parseQuantity } from '../../api/quantity.ts';
import { CSI_DRIVERS, CSI_STORAGE_CAPACITIES } from '../../api/resources.ts';
import { sortedKeys } from '../json.ts';
import type { Cause, Kind, StoredObject } from '../kind.ts';
import { subdomainFaults } from '../objects/formats.ts';
import { invalidValue, notSupported } from '../refusal.ts';
import { decodeQuantities } from './decode.ts';
import { immutable, plain, specOf } from './plain.ts';

/** Kinds that the scheduler reads to find capacity. */
export const CSI_KINDS: Kind[] = [
  {
    ...plain,
    ...CSI_DRIVERS,
    singular: 'csidriver',
    generations: true,
    fillDefaults(object) {
      object.spec = {
        attachRequired: true,
        podInfoOnMount: false,
        storageCapacity: false,
        fsGroupPolicy: 'ReadWriteOnceWithFSType',
        requiresRepublish: false,
        seLinuxMount: false,
        volumeLifecycleModes: ['Persistent'],
        ...specOf(object),
      };
    },
    // A new CSIDriver has no generation.
    prepare: ({ metadata }) => void delete metadata.generation,
    validate: (object, old) => [
      ...policyCauses(object),
      ...(old === undefined ? [] : driverChanges(object, old)),
    ],
  },
  {
    ...plain,
    ...CSI_STORAGE_CAPACITIES,
    singular: 'csistoragecapacity',
    fillDefaults: ({ capacity, maximumVolumeSize, ...object }) =>
      decodeQuantities(
        object as StoredObject,
        [capacity, maximumVolumeSize].filter((size) => size !== undefined),
      ),
    validate: (object, old) => [
      ...capacityCauses(object),
      ...(old === undefined ? [] : capacityChanges(object, old)),
    ],
  },
];

const POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];

function policyCauses(object: StoredObject): Cause[] {
  const { fsGroupPolicy } = specOf(object);
  return POLICIES.includes(fsGroupPolicy as string)
    ? []
    : [notSupported('spec.fsGroupPolicy', fsGroupPolicy, POLICIES)];
}

/** Checks an update as ValidateCSIDriverUpdate, which misnames the first field. */
function driverChanges(object: StoredObject, old: StoredObject): Cause[] {
  const [spec, before] = [specOf(object), specOf(old)];
  const changed = (field: string, path = field) =>
    isDeepStrictEqual(spec[field], before[field]) ? [] : [immutable(`spec.${path}`, spec[field])];
  return [...changed('attachRequired', 'attachedRequired'), ...changed('volumeLifecycleModes')];
}

function capacityCauses({ storageClassName, capacity }: StoredObject): Cause[] {
  const name = String(storageClassName);
  return [
    ...subdomainFaults(name).map((fault) =>
      invalidValue('storageClassName', JSON.stringify(name), fault),
    ),
    ...(capacity !== undefined && parseQuantity(capacity as string) < 0n
      ? [invalidValue('capacity', JSON.stringify(capacity), 'must be greater than or equal to 0')]
      : []),
  ];
}

function capacityChanges(object: StoredObject, old: StoredObject): Cause[] {
  const { nodeTopology, storageClassName } = object;
  return [
    ...(isDeepStrictEqual(nodeTopology, old.nodeTopology)
      ? []
      : [
          invalidValue(
            'nodeTopology',
            JSON.stringify(sortedKeys(nodeTopology ?? null)),
            'field is immutable',
          ),
        ]),
    ...(storageClassName === old.storageClassName
      ? []
      : [immutable('storageClassName', storageClassName)]),
  ];
}
