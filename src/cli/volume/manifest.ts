import { StowageError } from '../../api/errors.ts';
import { VOLUME_API_VERSION } from '../../api/names.ts';
import type { OnDelete, Volume, VolumeMode, VolumeSpec } from '../../api/volume.ts';
import type { Nodes } from '../node-pattern.ts';

/** What the command line says of Volumes. */
export interface VolumeFlags {
  node?: Nodes;
  type?: 'sparse' | 'raw' | 'lvm';
  size?: string;
  directory?: string;
  device?: string;
  vg?: string;
  overwrite?: string;
  storageClass?: string;
  mode?: VolumeMode;
  labels?: Record<string, string>;
  onDelete?: OnDelete;
}

/** Flags that are about one type only; the first of each is needed. */
const OWN = { sparse: ['size', 'directory'], raw: ['device', 'overwrite'] } as const;
export type VolumeType = keyof typeof OWN;

/**
 * The type that is given, or that other flags are about; undefined when nothing tells. Throws a StowageError `usage`
 * when flags contradict one another.
 */
export function typeOf(flags: VolumeFlags): VolumeType | undefined {
  const { type, vg } = flags;
  if (type === 'lvm' || vg !== undefined) {
    const flag = vg === undefined ? '--type lvm' : '--vg';
    throw new StowageError('usage', `${flag}: logical volumes are not supported by this version of stowage`, {
      hint: 'A logical volume that exists can be used as a device: --device /dev/VG/LV.',
    });
  }
  const [sparse] = OWN.sparse.filter((flag) => flags[flag] !== undefined);
  const [raw] = OWN.raw.filter((flag) => flags[flag] !== undefined);
  if (sparse && raw) throw contradiction(`--${sparse}`, `--${raw}`);
  if (type === 'sparse' && raw) throw contradiction('--type sparse', `--${raw}`);
  if (type === 'raw' && sparse) throw contradiction('--type raw', `--${sparse}`);
  return type ?? (sparse ? 'sparse' : raw && 'raw');
}

function contradiction(one: string, other: string): StowageError {
  return new StowageError('usage', `${one} and ${other} contradict each other`, {
    hint: 'A sparse file has --size and maybe --directory; a raw device has --device and maybe --overwrite.',
  });
}

/** The flags that are still needed, as they are written. */
export function missing(name: string | undefined, flags: VolumeFlags): string[] {
  const type = typeOf(flags);
  return [
    ...(name === undefined ? ['NAME'] : []),
    ...(flags.node === undefined ? ['--node'] : []),
    ...(type === undefined
      ? ['--size or --device']
      : flags[OWN[type][0]] === undefined
        ? [`--${OWN[type][0]}`]
        : []),
    ...(flags.storageClass === undefined ? ['--storage-class'] : []),
  ];
}

/** One Volume for each node. Nothing may be missing any more. */
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
    },
  }));
}

function storageOf(flags: VolumeFlags): Partial<VolumeSpec> {
  const { size = '', directory, device = '' } = flags;
  return typeOf(flags) === 'raw'
    ? { rawBlockDevice: { devicePath: device } }
    : { sparseLoopDevice: { size, ...(directory !== undefined && { directory }) } };
}
