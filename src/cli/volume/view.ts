import { age } from '../../api/age.ts';
import { phaseOf } from '../../api/phase.ts';
import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { getObjects } from '../lib/get/get-objects.ts';
import type { ResourceView } from '../lib/get/resource-view.ts';
import { nameIn } from '../lib/objects/name.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { listOf } from '../lib/output/data.ts';
import { readableSize } from '../lib/output/size.ts';
import { ageKey, sizeKey } from '../lib/output/sort-keys.ts';

const phase = (volume: Volume) => phaseOf(volume) ?? 'Unknown';
const name = ({ metadata }: Volume) => metadata.name;

/** View of `stowage get volumes`. */
export const VOLUME_VIEW: ResourceView<Volume> = {
  plural: 'volumes',
  filters: ['selector', 'node'],
  columns: [
    ['NAME', name],
    ['NODE', ({ spec }) => spec.nodeName],
    ['PHASE', phase, 'state'],
    ['READY', (volume) => readyOf(volume)?.status],
    ['DEVICE', ({ status }) => status?.deviceName],
    ['CAPACITY', ({ status }) => status?.capacity && readableSize(status.capacity)],
    ['STORAGECLASS', ({ spec }) => spec.storageClassName],
    ['AGE', ({ metadata }, now) => age(metadata.creationTimestamp, now)],
    ['PATH', ({ status }) => status?.devicePath, 'wide'],
    ['JOB', ({ status }) => status?.job, 'wide'],
    ['REASON', (volume) => readyOf(volume)?.reason, 'wide'],
  ],
  keyOf: name,
  nameOf: (volume) => nameIn(VOLUMES, name(volume)),
  sort: {
    by: {
      name,
      node: nodeOf,
      age: ({ metadata }) => ageKey(metadata.creationTimestamp),
      capacity: ({ status }) => sizeKey(status?.capacity),
      phase,
    },
    ties: [name],
  },
  list: listOf,
  get(request) {
    const { node } = request.flags;
    // Node of the provisioned storage, or else of the spec.
    const isWanted = (volume: Volume) => node === undefined || node.includes(nodeOf(volume));
    return getObjects(request, { resource: VOLUMES, isWanted });
  },
};
