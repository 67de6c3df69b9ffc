import {
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  REFERENCE_GRANTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../../api/resources.ts';
import type { Right } from '../../../kube/access-review.ts';
import type { ActionName, FieldValues } from '../../../ui/protocol.ts';
import { steers } from '../../lib/output/printable.ts';
import {
  directory,
  lvmName,
  namespacedName,
  namespaceName,
  objectName,
  quantity,
} from '../../lib/parse.ts';
import type { Given } from '../../lib/wizard/same-command.ts';

/** Throws an Error for a value that a field does not take. */
type Check = (text: string) => void;

interface FieldRow {
  /** Undefined for a field that is ticked. */
  check?: Check;
  optional?: true;
}

/** Command of an action, without global flags. */
export interface ActionCommand {
  /** Verb and kind. */
  words: readonly string[];
  /** First argument of the command. */
  name: string;
  /** Arguments after the name, none of which begins with a hyphen. */
  more?: readonly string[];
  options: Given;
  /** Text that the user types to confirm. */
  confirm: string;
  /** Set if a terminal asks nothing, or not always, but an option destroys data. */
  isConsent: boolean;
  /** Further writes, which follow the first one that a plan shows. */
  further?: string;
}

export interface ActionRow {
  fields: Readonly<Record<string, FieldRow>>;
  command(fields: FieldValues): ActionCommand;
  /** Rights without which the action fails; none if it only reads. */
  right?: Omit<Right, 'namespace'> & { namespaced: boolean };
  /** Set if `--dry-run=plan` observes the node. */
  plans?: true;
}

const MOST_OVERWRITE = 256;

function among(...choices: readonly string[]): Check {
  return (text) => {
    if (!choices.includes(text)) throw new Error(`Choose one of ${choices.join(', ')}.`);
  };
}

/** Takes an absolute path in its only spelling, such as a link of udev. */
function device(text: string): void {
  directory(text);
  if (steers(text) || text.includes('\n')) throw new Error('It must have no control characters.');
}

/** Takes what nodes name as content, such as `ext4:UUID`. */
function signature(text: string): void {
  if (text.length > MOST_OVERWRITE || !/^[\x21-\x2c\x2e-\x7e][\x21-\x7e]*$/.test(text))
    throw new Error('Write the content as the plan names it, such as ext4:UUID.');
}

/** Takes `NAMESPACE/NAME`: the namespace of a page is not the terminal's. */
function fullName(text: string): void {
  if (namespacedName(text).namespace === undefined) throw new Error('Write NAMESPACE/NAME.');
}

/** Takes `NAMESPACE/NAME`, or `NAMESPACE/*` for all snapshots of a namespace. */
function snapshots(text: string): void {
  const all = /^([^/]*)\/\*$/.exec(text)?.[1];
  if (all === undefined) fullName(text);
  else namespaceName(all);
}

const optional = (check: Check): FieldRow => ({ check, optional: true });
const ticked: FieldRow = { optional: true };
const name: FieldRow = { check: objectName };

const right = (
  verb: string,
  { group, plural, namespaced }: { group: string; plural: string; namespaced: boolean },
): NonNullable<ActionRow['right']> => ({ group, resource: plural, verb, namespaced });

/** Returns the text of a field; undefined if it is left out. */
const text = (fields: FieldValues, field: string): string | undefined => {
  const value = fields[field];
  return typeof value === 'string' ? value : undefined;
};

const namespaceIn = (fields: FieldValues, field: string): string | undefined =>
  text(fields, field)?.split('/')[0];

/** Returns options for fields of the same meaning, by option. */
const optionsOf = (fields: FieldValues, names: Readonly<Record<string, string>>): Given =>
  Object.fromEntries(Object.entries(names).map(([option, field]) => [option, fields[field]]));

/** All actions of the page: their fields, and the commands that these become. Pure. */
export const ACTIONS: Readonly<Record<ActionName, ActionRow>> = {
  createVolume: {
    fields: {
      name,
      node: name,
      type: { check: among('sparse', 'raw', 'lvm') },
      size: optional(quantity),
      device: optional(device),
      group: optional(lvmName),
      thinPool: optional(lvmName),
      overwrite: optional(signature),
      storageClass: name,
      mode: optional(among('Filesystem', 'Block')),
      attachPolicy: optional(among('Always', 'OnDemand')),
      onDelete: optional(among('Delete', 'Retain', 'Wipe')),
    },
    command: (fields) => ({
      words: ['create', 'volume'],
      name: text(fields, 'name') ?? '',
      options: {
        ...optionsOf(fields, {
          '--node': 'node',
          '--type': 'type',
          '--size': 'size',
          '--device': 'device',
          '--vg': 'group',
          '--thin-pool': 'thinPool',
          '--overwrite': 'overwrite',
          '--storage-class': 'storageClass',
          '--mode': 'mode',
          '--on-delete': 'onDelete',
          '--attach-policy': 'attachPolicy',
        }),
        '--wait': true,
      },
      confirm: text(fields, 'name') ?? '',
      isConsent: fields.overwrite !== undefined,
    }),
    right: right('create', VOLUMES),
    plans: true,
  },
  deleteVolume: {
    fields: { name },
    command: (fields) => ofVolume(fields, 'delete', { '--wait': true }),
    right: right('delete', VOLUMES),
  },
  resizeVolume: {
    fields: { name, size: { check: quantity } },
    command: (fields) => ({
      ...ofVolume(fields, 'resize', { '--wait': true }),
      more: [text(fields, 'size') ?? ''],
    }),
    right: right('patch', VOLUMES),
    plans: true,
  },
  retryVolume: {
    fields: { name },
    command: (fields) => ofVolume(fields, 'retry', {}),
    right: right('patch', VOLUMES),
  },
  pauseVolume: {
    fields: { name },
    command: (fields) => ofVolume(fields, 'pause', {}),
    right: right('patch', VOLUMES),
  },
  resumeVolume: {
    fields: { name },
    command: (fields) => ofVolume(fields, 'resume', {}),
    right: right('patch', VOLUMES),
  },
  pauseNode: {
    fields: { name },
    command: (fields) => ofNode(fields, 'pause'),
    right: right('patch', NODES),
  },
  resumeNode: {
    fields: { name },
    command: (fields) => ofNode(fields, 'resume'),
    right: right('patch', NODES),
  },
  detachVolume: {
    fields: { name, node: name, force: ticked },
    command: (fields) => ({
      ...ofVolume(fields, 'detach', optionsOf(fields, { '--node': 'node', '--force': 'force' })),
      ...(fields.force !== undefined && {
        further: 'It also removes the attachment from the status of the Volume.',
      }),
    }),
    // Without --force, the command waits until the daemon has detached the Volume.
  },
  createSnapshot: {
    fields: {
      snapshot: { check: fullName },
      claim: name,
      class: optional(objectName),
    },
    command: (fields) =>
      ofSnapshot(fields, 'create', {
        ...optionsOf(fields, { '--pvc': 'claim', '--class': 'class' }),
        '--wait': true,
      }),
    right: right('create', VOLUME_SNAPSHOTS),
  },
  restoreSnapshot: {
    fields: {
      snapshot: { check: fullName },
      to: { check: fullName },
      size: optional(quantity),
      storageClass: optional(objectName),
      mode: optional(among('Filesystem', 'Block')),
    },
    command: (fields) => ({
      ...ofSnapshot(
        fields,
        'restore',
        optionsOf(fields, {
          '--to': 'to',
          '--size': 'size',
          '--storage-class': 'storageClass',
          '--mode': 'mode',
        }),
      ),
      ...(namespaceIn(fields, 'snapshot') !== namespaceIn(fields, 'to') && {
        further: 'It may also create a VolumeSnapshotLink, which the claim needs on some clusters.',
      }),
    }),
    right: right('create', PERSISTENT_VOLUME_CLAIMS),
  },
  grantSnapshot: {
    fields: {
      snapshot: { check: snapshots },
      to: { check: namespaceName },
      for: optional(among('claims', 'links')),
    },
    command: (fields) =>
      ofSnapshot(fields, 'grant', optionsOf(fields, { '--to': 'to', '--for': 'for' })),
    right: right('create', REFERENCE_GRANTS),
  },
  revokeGrant: {
    fields: { grant: { check: fullName } },
    command: (fields) => ({
      words: ['revoke', 'grant'],
      name: text(fields, 'grant') ?? '',
      options: {},
      confirm: text(fields, 'grant') ?? '',
      isConsent: false,
    }),
    right: right('delete', REFERENCE_GRANTS),
  },
};

const ofVolume = (fields: FieldValues, verb: string, options: Given): ActionCommand => ({
  words: [verb, 'volume'],
  name: text(fields, 'name') ?? '',
  options,
  confirm: text(fields, 'name') ?? '',
  isConsent: fields.force !== undefined,
});

const ofNode = (fields: FieldValues, verb: string): ActionCommand => ({
  words: [verb, 'node'],
  name: text(fields, 'name') ?? '',
  options: {},
  confirm: text(fields, 'name') ?? '',
  isConsent: false,
});

const ofSnapshot = (fields: FieldValues, verb: string, options: Given): ActionCommand => ({
  words: [verb, 'snapshot'],
  name: text(fields, 'snapshot') ?? '',
  options,
  confirm: text(fields, 'snapshot') ?? '',
  isConsent: false,
});
