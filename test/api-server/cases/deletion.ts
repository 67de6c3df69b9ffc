import { DISKS, disk, MERGE } from '../disks.ts';
import { recorded, type Step } from '../recorded.ts';

const HELD = { finalizers: ['example.com/f'] };
const made = (metadata: object = {}): Step => ['POST', DISKS, disk('a', metadata)];
const remove = (options?: object, query = ''): Step => ['DELETE', `${DISKS}/a${query}`, options];
const merge = (patch: object): Step => ['PATCH', `${DISKS}/a`, patch, MERGE];
const read: Step = ['GET', `${DISKS}/a`];
const released = merge({ metadata: { finalizers: null } });

export const deletion = recorded('deletion', [DISKS], {
  'at once': [made(), remove(), read],
  'of what is not there': [remove()],
  'held, asked for again, and released': [made(HELD), remove(), remove(), read, released, read],
  'held: fields may change still': [
    made(HELD),
    remove(),
    merge({ spec: { mode: 'Block' }, metadata: { labels: { a: 'b' } } }),
  ],
  'held: no finalizer comes': [
    made(HELD),
    remove(),
    merge({ metadata: { finalizers: ['example.com/f', 'example.com/g', 'example.com/h'] } }),
  ],
  'held: its name is taken': [made(HELD), remove(), made()],
  'held: deletionTimestamp stays': [
    made(HELD),
    remove(),
    merge({ metadata: { deletionTimestamp: null } }),
  ],
  'held, by two': [
    made({ finalizers: ['example.com/f', 'example.com/g'] }),
    remove(),
    merge({ metadata: { finalizers: ['example.com/g'] } }),
    released,
  ],
  'on trial': [made(), remove({ dryRun: ['All'] }), read, remove(undefined, '?dryRun=All'), read],
  'on trial, held': [made(HELD), remove({ dryRun: ['All'] }), read],
  'of another uid': [made(), remove({ preconditions: { uid: 'other' } })],
  'of another version': [made(), remove({ preconditions: { resourceVersion: '1' } })],
  'of this uid and version': [
    made(),
    ([first]) => {
      const { uid, resourceVersion } = first?.body.metadata ?? {};
      return ['DELETE', `${DISKS}/a`, { preconditions: { uid, resourceVersion } }];
    },
  ],
  'in the foreground': [made(HELD), remove({ propagationPolicy: 'Foreground' })],
  orphaning: [made(HELD), remove({ propagationPolicy: 'Orphan' })],
  'in the background': [made(HELD), remove({ propagationPolicy: 'Background' }), released],
  'by a policy in the query': [made(HELD), remove(undefined, '?propagationPolicy=Background')],
  'by an odd policy': [made(), remove({ propagationPolicy: 'Later' })],
  'by both forms of a policy': [
    made(),
    remove({ propagationPolicy: 'Orphan', orphanDependents: true }),
  ],
  'with a grace period': [made(HELD), remove({ gracePeriodSeconds: 30 })],
  'with options of its kind': [made(), remove({ apiVersion: 'v1', kind: 'DeleteOptions' })],
  'with unknown options': [made(), remove({ huh: 1 })],
  'of a collection': [
    made({ labels: { k: 'v' } }),
    ['POST', DISKS, disk('b', { labels: { k: 'v' }, ...HELD })],
    ['POST', DISKS, disk('c')],
    ['DELETE', `${DISKS}?labelSelector=k%3Dv`],
    ['GET', DISKS],
  ],
  'of an empty collection': [['DELETE', DISKS]],
});
