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

const NO_SPEC = 'the Volume has no spec: create it with one';

/**
 * Returns why a Volume cannot be provisioned: per problem the field, the found value and the
 * expected one. An empty list means that the Volume is valid.
 */
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
 * Reports whether the spec names a node and a file or device there. These fields cannot change:
 * without them nothing was ever provisioned. Fields that can change do not count.
 */
export const hasPlace = ({ spec }: Pick<Volume, 'spec'>): boolean =>
  nameProblems('nodeName', spec.nodeName).length === 0 &&
  driversOf(spec).length === 1 &&
  driverOfSpec(spec).hasPlace(spec);

/**
 * Returns problems of the type. The schema keeps unknown fields, so that a Volume of an unknown
 * type fails with a reason.
 */
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

/**
 * Returns problems of `overwrite`, which is for existing devices and extents of earlier volumes.
 */
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
    : [
        'spec.overwrite must be the content of the device as the refusal names it, such as "ext4:<UUID>"',
      ];
}

/** Returns a field with its article as spoken, such as "an lvmLogicalVolume". */
const withArticle = (field: string): string =>
  `${/^(?:[aeio]|lvm)/.test(field) ? 'an' : 'a'} ${field}`;

function policyProblems({ attachPolicy }: VolumeSpec): string[] {
  return attachPolicy == null || attachPolicy === 'Always' || attachPolicy === 'OnDemand'
    ? []
    : [`spec.attachPolicy is ${JSON.stringify(attachPolicy)}, but must be Always or OnDemand`];
}

/**
 * Returns problems of `attachableNodes`, which is for files on a file system that the nodes share.
 * Such a volume follows its pod.
 */
function sharingProblems(spec: VolumeSpec): string[] {
  const { attachableNodes, nodeName, attachPolicy, sparseLoopDevice } = spec;
  if (attachableNodes == null) return [];
  const field = 'spec.attachableNodes';
  if (!Array.isArray(attachableNodes)) {
    return [`${field} is ${JSON.stringify(attachableNodes)}, but must be a list of node names`];
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
      : [`${field} lacks ${JSON.stringify(nodeName)}, which is spec.nodeName; add it`]),
    ...(attachPolicy === 'OnDemand'
      ? []
      : [
          `${field} needs spec.attachPolicy OnDemand, since the volume is attached where a pod needs it`,
        ]),
    ...(sparseLoopDevice != null && sparseLoopDevice.directory == null
      ? [
          `${field} needs spec.sparseLoopDevice.directory, a directory on a file system that these nodes share`,
        ]
      : []),
  ];
}

/** Returns problems of the source, which is only for provisioned storage: a disk exists already. */
function sourceProblems(spec: VolumeSpec): string[] {
  const { source } = spec;
  if (source == null) return [];
  const given = Object.keys(source).filter((key) => key !== 'uid');
  if (given.length !== 1) {
    return [`spec.source has ${given.join(' and ') || 'nothing'}, but a Volume has one source`];
  }
  const without = driversOf(spec).find(({ startProblem }) => startProblem === undefined);
  if (without !== undefined)
    return [`spec.source is not for ${withArticle(without.field)}; remove it`];
  if (given[0] === 'populator') return populatorProblems(source.populator);
  // A field of a later version: without it, something else would be provisioned.
  if (given[0] !== 'snapshotContentName' && given[0] !== 'volumeName') {
    return [`spec.source.${given[0]} is not supported by this version of stowage; remove it`];
  }
  return nameProblems(`source.${given[0]}`, source[given[0]]);
}

/**
 * Returns problems of adoption. Storage is adopted by its UID, as it is: nothing is provisioned,
 * copied or overwritten.
 */
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
    ...others.map(([field]) => `spec.${field} is not allowed with spec.adopt; remove it`),
  ];
}

function accessProblems(spec: VolumeSpec): string[] {
  return accessModesOf(spec).includes('ReadWriteMany')
    ? [
        'spec.template.spec.accessModes has ReadWriteMany, but only one node can write to a volume; use ReadWriteOnce, or ReadOnlyMany alone with spec.attachableNodes',
      ]
    : [];
}
