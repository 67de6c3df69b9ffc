import { StowageError } from '../../api/errors.ts';
import { VOLUME_API_VERSION } from '../../api/names.ts';
import type { AttachPolicy, OnDelete, Volume, VolumeMode, VolumeSpec } from '../../api/volume.ts';
import type { Nodes } from '../lib/nodes/node-pattern.ts';
import { written } from '../lib/wizard/ask.ts';

/** Properties of Volumes, as given on the command line. */
export interface VolumeFlags {
  node?: Nodes;
  type?: VolumeType;
  size?: string;
  directory?: string;
  requireMount?: true;
  device?: string;
  vg?: string;
  thinPool?: string;
  overwrite?: string;
  storageClass?: string;
  mode?: VolumeMode;
  labels?: Record<string, string>;
  onDelete?: OnDelete;
  attachPolicy?: AttachPolicy;
}

/** Types of `--type`. Tables over them must have all rows to compile. */
const VOLUME_TYPES = ['sparse', 'raw', 'lvm'] as const;
export type VolumeType = (typeof VOLUME_TYPES)[number];

/** Types that a flag applies to. */
const ABOUT = {
  size: ['sparse', 'lvm'],
  directory: ['sparse'],
  requireMount: ['sparse'],
  device: ['raw'],
  vg: ['lvm'],
  thinPool: ['lvm'],
  overwrite: ['raw', 'lvm'],
} as const satisfies Partial<Record<keyof VolumeFlags, readonly VolumeType[]>>;

/** Reports whether a flag applies to a type; false if no type is known. */
export const appliesTo = (flag: keyof typeof ABOUT, type: VolumeType | undefined): boolean =>
  type !== undefined && (ABOUT[flag] as readonly VolumeType[]).includes(type);

/**
 * Returns the given type, or the one that other flags imply: a file or a device rather than a
 * logical volume, which has a group. Returns undefined if no flag decides. Throws a StowageError
 * `usage` for contradictory flags.
 */
export function typeOf(flags: VolumeFlags): VolumeType | undefined {
  const given = (Object.keys(ABOUT) as (keyof typeof ABOUT)[]).filter(
    (flag) => flags[flag] !== undefined,
  );
  const implied: (readonly [string, readonly VolumeType[]])[] = [
    ...(flags.type === undefined ? [] : [[`--type ${flags.type}`, [flags.type]] as const]),
    ...given.map((flag) => [written(flag), ABOUT[flag]] as const),
  ];
  for (const [one, types] of implied) {
    const other = implied.find(([, others]) => !types.some((type) => others.includes(type)));
    if (other !== undefined) throw contradiction(one, other[0]);
  }
  const types = VOLUME_TYPES.filter((type) => implied.every(([, can]) => can.includes(type)));
  return implied.length === 0 ? undefined : types[0];
}

function contradiction(one: string, other: string): StowageError {
  return new StowageError('usage', `${one} and ${other} contradict each other`, {
    hint: 'For a sparse file, set --size (optionally --directory, --require-mount); for a raw device, --device (optionally --overwrite); for a logical volume, --vg and --size (optionally --thin-pool, --overwrite).',
  });
}

/** Returns a Volume for each node. The flags must be complete. */
export function volumesOf(name: string, flags: VolumeFlags): Volume[] {
  const { node, labels } = flags;
  return (node?.names ?? []).map((nodeName) => ({
    apiVersion: VOLUME_API_VERSION,
    kind: 'Volume',
    metadata: { name: node?.many ? `${name}-${nodeName}` : name, ...(labels && { labels }) },
    spec: {
      nodeName,
      storageClassName: flags.storageClass ?? '',
      ...(flags.mode && { mode: flags.mode }),
      ...(labels && { template: { metadata: { labels } } }),
      ...storageOf(flags),
      ...(flags.overwrite !== undefined && { overwrite: flags.overwrite }),
      ...(flags.onDelete && { onDelete: flags.onDelete }),
      ...(flags.attachPolicy && { attachPolicy: flags.attachPolicy }),
    },
  }));
}

function storageOf(flags: VolumeFlags): Partial<VolumeSpec> {
  const { size = '', directory, requireMount, device = '', vg = '', thinPool } = flags;
  switch (typeOf(flags)) {
    case 'raw':
      return { rawBlockDevice: { devicePath: device } };
    case 'lvm':
      return {
        lvmLogicalVolume: { vgName: vg, size, ...(thinPool !== undefined && { thinPool }) },
      };
    case 'sparse':
    case undefined:
      return {
        sparseLoopDevice: {
          size,
          ...(directory !== undefined && { directory }),
          ...(requireMount && { requireMount }),
        },
      };
  }
}
