import { accessModesOf } from './access-modes.ts';
import { directoryWanted } from './directory.ts';
import { DNS_SUBDOMAIN, isDnsSubdomain } from './dns-name.ts';
import { isLvmName, LVM_NAME, MAX_LVM_NAME } from './lvm-name.ts';
import { populatorProblems } from './populator-source.ts';
import { parseQuantity } from './quantity.ts';
import { isUid } from './uid.ts';
import type { Volume, VolumeSpec } from './volume.ts';

const TYPES = ['sparseLoopDevice', 'rawBlockDevice', 'lvmLogicalVolume'] as const;

/** The fields of a spec. The schema keeps others, so that a Volume of an unknown type is told why it fails. */
const FIELDS: ReadonlySet<string> = new Set<keyof VolumeSpec>([
  ...TYPES,
  'nodeName',
  'storageClassName',
  'mode',
  'template',
  'attachPolicy',
  'attachableNodes',
  'overwrite',
  'onDelete',
  'source',
  'adopt',
]);

/** MetalK8s's message, which its users and tests look for. */
const NO_TYPE = 'volume type not found in Volume Spec';

const NO_SPEC = 'it has no spec, and is nothing without: a Volume is created with one';

/** The largest file there can be, in whole blocks of 4096 bytes: offsets are signed. */
const MAX_BYTES = 2n ** 63n - 4096n;

/** What keeps a Volume from being made, each naming the field, what was found and what is wanted. None: it is valid. */
export function validateVolume({ metadata, spec }: Volume): string[] {
  if (Object.values(spec).every((value) => value === '')) return [NO_SPEC];
  return [
    ...nameProblems('nodeName', spec.nodeName),
    ...nameProblems('storageClassName', spec.storageClassName),
    ...typeProblems(spec),
    ...(spec.sparseLoopDevice == null ? [] : sparseProblems(spec.sparseLoopDevice)),
    ...(spec.rawBlockDevice == null ? [] : rawProblems(spec.rawBlockDevice)),
    ...(spec.lvmLogicalVolume == null ? [] : lvmProblems(metadata.name, spec.lvmLogicalVolume)),
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
export function hasPlace({ spec }: Pick<Volume, 'spec'>): boolean {
  const { nodeName, sparseLoopDevice, rawBlockDevice, lvmLogicalVolume } = spec;
  if (nameProblems('nodeName', nodeName).length > 0) return false;
  if (TYPES.filter((type) => spec[type] != null).length !== 1) return false;
  if (lvmLogicalVolume != null) return groupProblems(lvmLogicalVolume).length === 0;
  return rawBlockDevice == null
    ? sparseLoopDevice?.directory === undefined ||
        directoryProblems(sparseLoopDevice.directory).length === 0
    : rawProblems(rawBlockDevice).length === 0;
}

function nameProblems(field: string, name: unknown): string[] {
  if (typeof name === 'string' && isDnsSubdomain(name)) return [];
  return [`spec.${field} is ${JSON.stringify(name)}, but must be a name: ${DNS_SUBDOMAIN}`];
}

function typeProblems(spec: VolumeSpec): string[] {
  const found = TYPES.filter((type) => spec[type] != null);
  const unknown = Object.keys(spec).filter((field) => !FIELDS.has(field));
  if (found.length === 0) return [NO_TYPE];
  return [
    ...(found.length > 1 ? [`spec has ${found.join(' and ')}, but a Volume has one type`] : []),
    ...unknown.map((field) => `spec.${field} is not a field of a Volume`),
  ];
}

function sparseProblems({
  size,
  directory,
  requireMount,
}: NonNullable<VolumeSpec['sparseLoopDevice']>): string[] {
  return [
    ...sizeProblems('sparseLoopDevice', size),
    ...(directory === undefined ? [] : directoryProblems(directory)),
    ...(requireMount == null || typeof requireMount === 'boolean'
      ? []
      : [
          `spec.sparseLoopDevice.requireMount is ${JSON.stringify(requireMount)}, but must be true or false`,
        ]),
  ];
}

/** A device can have any name below /dev; by which path it is named does not matter, so nothing is compared. */
function rawProblems({ devicePath }: NonNullable<VolumeSpec['rawBlockDevice']>): string[] {
  const field = 'spec.rawBlockDevice.devicePath';
  if (typeof devicePath !== 'string')
    return [`${field} is ${JSON.stringify(devicePath)}, but must be a text`];
  const wanted = devicePath.startsWith('/dev/')
    ? directoryWanted(devicePath)
    : 'be a path below /dev';
  return wanted === undefined
    ? []
    : [`${field} is ${JSON.stringify(devicePath)}, but must ${wanted}`];
}

function lvmProblems(name: string, lvm: NonNullable<VolumeSpec['lvmLogicalVolume']>): string[] {
  const reserved =
    !isDnsSubdomain(name) || /^(snapshot|pvmove)/.test(name) || name.length > MAX_LVM_NAME;
  return [
    ...groupProblems(lvm),
    ...sizeProblems('lvmLogicalVolume', lvm.size),
    ...(reserved
      ? [
          `metadata.name is ${JSON.stringify(name)}, but the logical volume gets that name, which LVM does not take: it must have ${DNS_SUBDOMAIN}, not begin with snapshot or pvmove, nor be longer than ${MAX_LVM_NAME}`,
        ]
      : []),
  ];
}

function groupProblems({
  vgName,
  thinPool,
}: NonNullable<VolumeSpec['lvmLogicalVolume']>): string[] {
  return [
    ...lvmNameProblems('vgName', vgName),
    ...(thinPool == null ? [] : lvmNameProblems('thinPool', thinPool)),
  ];
}

function lvmNameProblems(field: string, name: unknown): string[] {
  if (typeof name === 'string' && isLvmName(name)) return [];
  return [`spec.lvmLogicalVolume.${field} is ${JSON.stringify(name)}, but must be ${LVM_NAME}`];
}

/** There is nothing to overwrite but on a device that is there already, or in extents of earlier ones. */
function overwriteProblems({ overwrite, sparseLoopDevice }: VolumeSpec): string[] {
  if (overwrite == null) return [];
  if (sparseLoopDevice != null)
    return ['spec.overwrite is for a rawBlockDevice or an lvmLogicalVolume only; remove it'];
  return typeof overwrite === 'string' && overwrite !== '' && !/\p{Cc}/u.test(overwrite)
    ? []
    : ['spec.overwrite must be what the refusal says is on the device, such as "ext4:<UUID>"'];
}

function sizeProblems(type: (typeof TYPES)[number], size: string | number): string[] {
  const field = `spec.${type}.size`;
  let bytes: bigint;
  try {
    bytes = parseQuantity(size);
  } catch {
    return [`${field} is ${JSON.stringify(size)}, but must be a quantity of bytes such as 10Gi`];
  }
  if (bytes <= 0n) return [`${field} is ${size}, but must be greater than 0`];
  return bytes > MAX_BYTES
    ? [`${field} is ${size}, but nothing is larger than ${MAX_BYTES} bytes`]
    : [];
}

/** One folder has one name here: what is compared with what a node reports must be spelt as the node spells it. */
function directoryProblems(directory: unknown): string[] {
  const wanted = typeof directory === 'string' ? directoryWanted(directory) : 'be a text';
  if (wanted === undefined) return [];
  return [`spec.sparseLoopDevice.directory is ${JSON.stringify(directory)}, but must ${wanted}`];
}

function policyProblems({ attachPolicy }: VolumeSpec): string[] {
  return attachPolicy == null || attachPolicy === 'Always' || attachPolicy === 'OnDemand'
    ? []
    : [`spec.attachPolicy is ${JSON.stringify(attachPolicy)}, but must be Always or OnDemand`];
}

/** What several nodes may attach is a file on a file system of theirs, and goes to where a pod needs it. */
function sharingProblems({
  attachableNodes,
  nodeName,
  attachPolicy,
  sparseLoopDevice,
}: VolumeSpec): string[] {
  if (attachableNodes == null) return [];
  const field = 'spec.attachableNodes';
  if (!Array.isArray(attachableNodes)) {
    return [`${field} is ${JSON.stringify(attachableNodes)}, but must be a list of names of nodes`];
  }
  if (sparseLoopDevice == null) return [`${field} is for a sparseLoopDevice only; remove it`];
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
    ...(sparseLoopDevice.directory == null
      ? [
          `${field} needs spec.sparseLoopDevice.directory, a folder on a file system that these nodes share`,
        ]
      : []),
  ];
}

/** What it starts from is for what is made: a disk is there already. */
function sourceProblems({ source, rawBlockDevice }: VolumeSpec): string[] {
  if (source == null) return [];
  const given = Object.keys(source).filter((key) => key !== 'uid');
  if (given.length !== 1) {
    return [
      `spec.source has ${given.join(' and ') || 'nothing'}, but a Volume starts from one thing`,
    ];
  }
  if (rawBlockDevice != null) return ['spec.source is not for a rawBlockDevice; remove it'];
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
