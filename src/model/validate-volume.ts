import { accessModesOf } from '../api/access-modes.ts';
import { populatorProblems } from '../api/populator-source.ts';
import { nameProblems } from '../api/spec-problems.ts';
import { isUid } from '../api/uid.ts';
import type { Volume, VolumeSpec } from '../api/volume.ts';
import { type AnyDriver, driverOfSpec, driversOf, fieldsOf } from '../storage/registry.ts';

/** The fields that are the same for every kind of storage. */
const FIELDS: readonly (keyof VolumeSpec)[] = [
  ...(['nodeName', 'storageClassName', 'mode', 'template', 'attachPolicy'] as const),
  ...(['attachableNodes', 'overwrite', 'onDelete', 'source', 'adopt'] as const),
];

/** MetalK8s's message, which its users and tests look for. */
const NO_TYPE = 'volume type not found in Volume Spec';

const NO_SPEC = 'it has no spec, and is nothing without: a Volume is created with one';

/** What keeps a Volume from being made, each naming the field, what was found and what is wanted. None: it is valid. */
export function validateVolume(volume: Volume): string[] {
  const { spec } = volume;
  if (Object.values(spec).every((value) => value === '')) return [NO_SPEC];
  return [
    ...nameProblems('nodeName', spec.nodeName),
    ...nameProblems('storageClassName', spec.storageClassName),
    ...typeProblems(spec),
    ...driversOf(spec).flatMap((driver) => driver.specProblems(volume)),
    ...overwriteProblems(spec),
    ...policyProblems(spec),
    ...sharingProblems(spec),
    ...accessProblems(spec),
    ...sourceProblems(spec),
    ...adoptProblems(spec),
  ];
}

/**
 * Whether the spec names a node and a file or device there, which it then does for good: where it does not, nothing can
 * ever have been made of it. What of a spec can change says nothing of that.
 */
export const hasPlace = ({ spec }: Pick<Volume, 'spec'>): boolean =>
  nameProblems('nodeName', spec.nodeName).length === 0 &&
  driversOf(spec).length === 1 &&
  driverOfSpec(spec).hasPlace(spec);

/** The schema keeps fields that it does not know, so that a Volume of an unknown type is told why it fails. */
function typeProblems(spec: VolumeSpec): string[] {
  const found = driversOf(spec).map(({ field }) => field);
  const known: readonly string[] = [...FIELDS, ...fieldsOf()];
  const unknown = Object.keys(spec).filter((field) => !known.includes(field));
  if (found.length === 0) return [NO_TYPE];
  return [
    ...(found.length > 1 ? [`spec has ${found.join(' and ')}, but a Volume has one type`] : []),
    ...unknown.map((field) => `spec.${field} is not a field of a Volume`),
  ];
}

/** There is nothing to overwrite but on a device that is there already, or in extents of earlier ones. */
function overwriteProblems(spec: VolumeSpec): string[] {
  if (spec.overwrite == null) return [];
  if (driversOf(spec).some(({ overwrites }) => !overwrites)) {
    const kinds = fieldsOf(({ overwrites }) => overwrites).map((field) => withArticle(field));
    return [`spec.overwrite is for ${kinds.join(' or ')} only; remove it`];
  }
  return typeof spec.overwrite === 'string' &&
    spec.overwrite !== '' &&
    !/\p{Cc}/u.test(spec.overwrite)
    ? []
    : ['spec.overwrite must be what the refusal says is on the device, such as "ext4:<UUID>"'];
}

/** "an lvmLogicalVolume", as it is spoken. */
const withArticle = (field: string): string =>
  `${/^(?:[aeio]|lvm)/.test(field) ? 'an' : 'a'} ${field}`;

function policyProblems({ attachPolicy }: VolumeSpec): string[] {
  return attachPolicy == null || attachPolicy === 'Always' || attachPolicy === 'OnDemand'
    ? []
    : [`spec.attachPolicy is ${JSON.stringify(attachPolicy)}, but must be Always or OnDemand`];
}

/** What several nodes may attach is a file on a file system of theirs, and goes to where a pod needs it. */
function sharingProblems(spec: VolumeSpec): string[] {
  const { attachableNodes, nodeName, attachPolicy, sparseLoopDevice } = spec;
  if (attachableNodes == null) return [];
  const field = 'spec.attachableNodes';
  if (!Array.isArray(attachableNodes)) {
    return [`${field} is ${JSON.stringify(attachableNodes)}, but must be a list of names of nodes`];
  }
  const sharable = fieldsOf((driver: AnyDriver) => driver.sharable);
  if (sharable.every((each) => spec[each] == null)) {
    return [`${field} is for ${sharable.map(withArticle).join(' or ')} only; remove it`];
  }
  const names: readonly unknown[] = attachableNodes;
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
  return [
    ...names.flatMap((name, index) => nameProblems(`attachableNodes[${index}]`, name)),
    ...twice.map((name) => `${field} names ${JSON.stringify(name)} more than once`),
    ...(names.includes(nodeName)
      ? []
      : [
          `${field} lacks ${JSON.stringify(nodeName)}, which is spec.nodeName; name that node, too`,
        ]),
    ...(attachPolicy === 'OnDemand'
      ? []
      : [`${field} needs spec.attachPolicy OnDemand, for the volume goes to where a pod needs it`]),
    ...(sparseLoopDevice != null && sparseLoopDevice.directory == null
      ? [
          `${field} needs spec.sparseLoopDevice.directory, a folder on a file system that these nodes share`,
        ]
      : []),
  ];
}

/** What it starts from is for what is made: a disk is there already. */
function sourceProblems(spec: VolumeSpec): string[] {
  const { source } = spec;
  if (source == null) return [];
  const given = Object.keys(source).filter((key) => key !== 'uid');
  if (given.length !== 1) {
    return [
      `spec.source has ${given.join(' and ') || 'nothing'}, but a Volume starts from one thing`,
    ];
  }
  const without = driversOf(spec).find(({ startProblem }) => startProblem === undefined);
  if (without !== undefined)
    return [`spec.source is not for ${withArticle(without.field)}; remove it`];
  if (given[0] === 'populator') return populatorProblems(source.populator);
  // A field whose time has not come: to ignore it would be to do something else.
  if (given[0] !== 'snapshotContentName' && given[0] !== 'volumeName') {
    return [`spec.source.${given[0]} is not supported by this version of stowage; leave it out`];
  }
  return nameProblems(`source.${given[0]}`, source[given[0]]);
}

/** Storage is adopted by the UID that it has, and as it is: nothing is made, copied or overwritten. */
function adoptProblems({ adopt, source, overwrite, attachableNodes }: VolumeSpec): string[] {
  if (adopt == null) return [];
  const others = Object.entries({ source, overwrite, attachableNodes }).filter(
    ([, value]) => value != null,
  );
  return [
    ...(isUid(adopt.uid)
      ? []
      : [
          `spec.adopt.uid is ${JSON.stringify(adopt.uid)}, but must be the UID of a Volume, such as 0b9cbd1c-5e26-4d13-9d6c-7f1f4d0d4b5e`,
        ]),
    ...others.map(([field]) => `spec.${field} is not for storage that is adopted; remove it`),
  ];
}

function accessProblems(spec: VolumeSpec): string[] {
  return accessModesOf(spec).includes('ReadWriteMany')
    ? [
        'spec.template.spec.accessModes has ReadWriteMany, but a volume is written on one node at most; use ReadWriteOnce, or ReadOnlyMany alone with spec.attachableNodes',
      ]
    : [];
}
