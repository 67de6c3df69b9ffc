import { age } from '../../../api/age.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { readObjects, selectionOf } from '../../lib/get/get-objects.ts';
import type { ResourceView } from '../../lib/get/resource-view.ts';
import { watchObjects } from '../../lib/objects/watch.ts';
import { ageKey } from '../../lib/output/sort-keys.ts';
import { type AttachmentRow, attachmentName, attachmentRows } from './row.ts';
import { byVolume } from './watch.ts';

const yes = (is: boolean) => (is ? 'yes' : 'no');
const volume = (row: AttachmentRow) => row.volume;
const node = (row: AttachmentRow) => row.node;
const state = (row: AttachmentRow) => row.state;

/** View of `stowage get attachments`: devices, as the Volumes report them. Names are of Volumes. */
export const ATTACHMENT_VIEW: ResourceView<AttachmentRow> = {
  plural: 'attachments',
  filters: ['selector'],
  columns: [
    ['VOLUME', volume],
    ['NODE', node],
    ['STATE', state],
    ['PODS', ({ pods }) => pods.join(',')],
    ['SINCE', ({ since }, now) => age(since, now)],
    ['SAFE-TO-MOUNT', ({ safeToMount }) => yes(safeToMount), 'wide'],
    ['SAFE-TO-DETACH', ({ safeToDetach }) => yes(safeToDetach), 'wide'],
    ['READ-ONLY', ({ readOnly }) => yes(readOnly), 'wide'],
    ['DEVICE', ({ device }) => device, 'wide'],
    ['MESSAGE', ({ message }) => message, 'wide'],
  ],
  keyOf: attachmentName,
  nameOf: attachmentName,
  sort: {
    by: { volume, node, state, age: ({ since }) => ageKey(since) },
    ties: [volume, node],
    standard: 'volume',
  },
  alwaysList: true,
  async get(request) {
    const { flags, io } = request;
    const selection = selectionOf<Volume>(request, { resource: VOLUMES });
    const { objects, errors } = await readObjects(selection, io);
    if (!flags.watch || errors.length > 0)
      return request.show(attachmentRows(objects, flags.node), errors);
    const printer = byVolume(request.printer(), flags.node, io.clock);
    await watchObjects(selection, objects, printer, io);
  },
};
