import { age } from '../../../api/age.ts';
import type { AnyEvent, CsiStorageCapacity, KubeNode, ObjectReference } from '../../../api/core.ts';
import { COMPONENT, HOSTNAME_LABEL } from '../../../api/names.ts';
import { isPaused } from '../../../api/paused.ts';
import { phaseOf } from '../../../api/phase.ts';
import { reasonOfAnnotations } from '../../../api/reasons.ts';
import { CSI_STORAGE_CAPACITIES, EVENTS } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { CAPACITY_SELECTOR } from '../../../controllers/lib/capacity/capacity.ts';
import { listAll } from '../../../kube/client.ts';
import { hostnameLabelOf } from '../../../model/hostname-label.ts';
import { addressOfNode, addressProblems, minionOfNode } from '../../../model/node-address.ts';
import { readyConditionOf } from '../../../model/node-health.ts';
import { resumeCommand } from '../../../model/pause.ts';
import type { Describe } from '../../lib/describe-command.ts';
import {
  eventTable,
  freeText,
  given,
  shown,
  since,
  tableField,
} from '../../lib/objects/description.ts';
import { isOwn } from '../../lib/objects/events.ts';
import { CLUSTER_EVENTS, oldestFirst, type ReadClient } from '../../lib/objects/related.ts';
import { type Field, type FieldValue, fields } from '../../lib/output/fields.ts';
import { readableSize } from '../../lib/output/size.ts';
import { foundIn, type Reading, reading } from '../../lib/read-result.ts';
import { explainNode } from '../node-object/explain.ts';
import { blockedBy } from '../why.ts';

/**
 * Returns what `stowage describe node` prints, without a connection to the node. Throws a
 * StowageError.
 */
export const describeNode: Describe = async ({ name }, io, { client }) => {
  const { signal } = io;
  const explained = await explainNode({ kind: 'Node', name }, io, { client });
  const { node, volumes } = explained.known;
  const now = io.clock.timeOfDay();
  const rooms = await readRooms(name, foundIn(node), client, signal);
  const events = await readEvents(name, client, signal);
  return fields([
    ['Name', name],
    ...nodeFields(name, node, now),
    ['Blocked by', await blockedBy(explained, io, client)],
    ['Volumes', shown(volumes, (all) => volumeTable(all, name, now))],
    ['Free space', shown(rooms, roomTable)],
    ['Events', shown(events, (all) => eventTable(all, now, objectText))],
  ]);
};

function nodeFields(name: string, read: Reading<KubeNode>, now: number): Field[] {
  const node = foundIn(read);
  if (node === undefined)
    return [['Ready', 'absent' in read ? 'not in this cluster' : shown(read, () => undefined)]];
  const ready = readyConditionOf(node);
  const problems = addressProblems(node).map(({ message }) => message);
  const { host, port } = addressOfNode(node);
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule');
  const isReady = ready?.status === 'True';
  return [
    ['Ready', ready?.status ?? 'Unknown'],
    ...(isReady
      ? []
      : [
          ...given('Since', since(ready?.lastTransitionTime, now)),
          ...given('Message', ready?.message),
        ]),
    [
      'Taints',
      taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`),
    ],
    ['Paused', isPaused(node) ? `yes. To resume it: ${resumeCommand('node', name)}` : 'no'],
    ['Address', host ?? `${name}, its name`],
    ...given('Port', port?.toString()),
    ...given('Minion', minionOfNode(node)),
    ...(problems.length === 0 ? [] : [['Invalid', problems] satisfies Field]),
  ];
}

/** Returns a table of Volumes, each with its attachment to the node. */
const volumeTable = (volumes: readonly Volume[], name: string, now: number): FieldValue =>
  tableField(
    ['NAME', 'PHASE', 'CAPACITY', 'ATTACHMENT', 'PODS', 'SINCE', 'DEVICE', 'MESSAGE'],
    volumes.map((volume) => {
      const there = volume.status?.attachments?.find(({ node }) => node === name);
      return [
        volume.metadata.name,
        phaseOf(volume) ?? 'Unknown',
        volume.status?.capacity && readableSize(volume.status.capacity),
        there?.state,
        there?.pods?.join(','),
        age(there?.since, now),
        there?.device,
        there?.message,
      ];
    }),
  );

/** Reads the free space that the daemon publishes for the scheduler. */
async function readRooms(
  name: string,
  node: KubeNode | undefined,
  client: ReadClient,
  signal: AbortSignal,
): Promise<Reading<CsiStorageCapacity[]>> {
  const hostname = node === undefined ? name : hostnameLabelOf(node);
  const list = listAll<CsiStorageCapacity>(client, CSI_STORAGE_CAPACITIES, {
    labelSelector: CAPACITY_SELECTOR,
    signal,
  });
  return reading(
    list.then(({ items }) =>
      items.filter(({ nodeTopology }) => nodeTopology?.matchLabels?.[HOSTNAME_LABEL] === hostname),
    ),
  );
}

const roomTable = (rooms: readonly CsiStorageCapacity[]): FieldValue =>
  tableField(
    ['STORAGECLASS', 'FREE'],
    rooms.map(({ storageClassName, capacity }) => [storageClassName, freeText(capacity)]),
  );

const objectText = ({ kind, name }: ObjectReference): string => `${kind} ${name}`;

/** Reads the daemon's events on cluster-scoped objects whose reason names the node. */
async function readEvents(
  name: string,
  client: ReadClient,
  signal: AbortSignal,
): Promise<Reading<AnyEvent[]>> {
  const list = listAll<AnyEvent>(client, EVENTS, {
    namespace: CLUSTER_EVENTS,
    fieldSelector: `source=${COMPONENT}`,
    signal,
  });
  const isAbout = (event: AnyEvent) =>
    isOwn(event) && reasonOfAnnotations(event.metadata.annotations)?.parameters.node === name;
  return reading(list.then(({ items }) => oldestFirst(items.filter(isAbout))));
}
