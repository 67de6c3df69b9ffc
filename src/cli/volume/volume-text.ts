import { age } from '../../api/age.ts';
import type { AnyEvent, PersistentVolume } from '../../api/core.ts';
import { phaseOf } from '../../api/phase.ts';
import type { Volume, VolumeSpec, VolumeStatus } from '../../api/volume.ts';
import { sizeIn } from '../../api/volume-size.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { driversOf } from '../../storage/registry.ts';
import {
  eventTable,
  given,
  pairs,
  podText,
  shown,
  since,
  tableField,
} from '../lib/objects/description.ts';
import type { Consumers } from '../lib/objects/related.ts';
import { type Field, type FieldValue, fields } from '../lib/output/fields.ts';
import { columnsOf, headingsOf, rowOf } from '../lib/output/view.ts';
import type { Reading } from '../lib/read-result.ts';
import { attachmentRows } from './attachments/row.ts';
import { ATTACHMENT_VIEW } from './attachments/view.ts';

export interface Described extends Consumers {
  volume: Volume;
  events: Reading<AnyEvent[]>;
}

/** Returns a description of a Volume, for users. `now` is in ms since the epoch. */
export function description({ volume, pv, claim, pods, events }: Described, now: number): string {
  const { metadata, spec, status } = volume;
  return fields([
    ['Name', metadata.name],
    ['UID', metadata.uid],
    ['Labels', pairs(metadata.labels)],
    ['Annotations', pairs(metadata.annotations)],
    ['Created', since(metadata.creationTimestamp, now)],
    ...given('Deletion requested', since(metadata.deletionTimestamp, now)),
    ['Finalizers', metadata.finalizers],
    ['Node', spec.nodeName],
    ...typeOf(spec),
    ['Storage class', spec.storageClassName],
    ['Mode', spec.mode ?? 'Filesystem'],
    ...given('Attach policy', spec.attachPolicy),
    ...given('Attachable nodes', spec.attachableNodes?.join(', ')),
    ...given('On delete', spec.onDelete),
    ...given('Overwrite', spec.overwrite),
    ['Status', { fields: statusOf(volume, status) }],
    ['Conditions', conditionsOf(status, now)],
    ['Attachments', attachmentsOf(volume, now)],
    ['PersistentVolume', pvOf(pv, volume)],
    [
      'Claim',
      shown(claim, ({ metadata: { namespace, name }, status: found }) => ({
        fields: [
          ['Name', `${namespace}/${name}`],
          ['Phase', found?.phase],
          ['Used by', shown(pods, (using) => using.map(podText))],
        ],
      })),
    ],
    ['Events', shown(events, (all) => eventTable(all, now, ({ kind }) => kind))],
  ]);
}

/** Returns every type in the spec: an invalid Volume may have two. */
function typeOf(spec: VolumeSpec): Field[] {
  const fields = driversOf(spec).flatMap((driver): Field[] => [
    ['Type', driver.label],
    ...given('Size', sizeIn(spec, driver.field)),
    ...driver.describe(spec).flatMap(([label, value]) => given(label, value)),
  ]);
  return fields.length > 0 ? fields : [['Type', undefined]];
}

function statusOf(volume: Volume, status: VolumeStatus = {}): Field[] {
  const { generation } = volume.metadata;
  const { observedGeneration, prepared, attempt } = status;
  return [
    ['Phase', phaseOf(volume) ?? 'Unknown'],
    ['Device', status.deviceName === undefined ? undefined : `/dev/${status.deviceName}`],
    ['Path', status.devicePath],
    ['Capacity', status.capacity],
    ['Job', status.job],
    ['Attempt', attempt === undefined ? undefined : String(attempt)],
    [
      'Observed generation',
      observedGeneration === undefined
        ? undefined
        : `${observedGeneration} of ${generation ?? '?'}`,
    ],
    [
      'Prepared',
      prepared === undefined
        ? undefined
        : {
            fields: [
              ['Node', prepared.node],
              ['Paths', prepared.paths],
              ['Identity', prepared.identity],
            ],
          },
    ],
  ];
}

function conditionsOf(status: VolumeStatus = {}, now: number): FieldValue {
  const rows = (status.conditions ?? []).map((condition) => [
    condition.type,
    condition.status,
    condition.reason,
    age(condition.lastTransitionTime, now),
    age(condition.lastUpdateTime, now),
    condition.message,
  ]);
  return tableField(['TYPE', 'STATUS', 'REASON', 'SINCE', 'UPDATED', 'MESSAGE'], rows);
}

/** Omits the Volume, which is the same in all rows. */
function attachmentsOf(volume: Volume, now: number): FieldValue {
  const [, ...columns] = columnsOf(ATTACHMENT_VIEW, { output: 'wide' });
  const rows = attachmentRows([volume], undefined).map((row) => rowOf(columns, row, now));
  return tableField(headingsOf(columns), rows);
}

function pvOf(pv: Reading<PersistentVolume>, volume: Volume): FieldValue {
  return shown(pv, (found) => {
    const { metadata, spec, status } = found;
    return {
      fields: [
        ['Name', `${metadata.name}${isPvOf(found, volume) ? '' : ' (not of this Volume)'}`],
        ['Phase', status?.phase],
        ...given('Message', status?.message),
        ['Storage class', spec.storageClassName],
        ['Capacity', spec.capacity.storage],
        ['Reclaim policy', spec.persistentVolumeReclaimPolicy],
        ['Finalizers', metadata.finalizers],
        ['Claim', spec.claimRef && `${spec.claimRef.namespace}/${spec.claimRef.name}`],
      ],
    };
  });
}
