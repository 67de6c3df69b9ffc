import { isDeepStrictEqual } from 'node:util';
import { isDnsSubdomain } from '../../api/dns-name.ts';
import type { Volume, VolumeSpec } from '../../api/volume.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import { steers } from '../lib/output/printable.ts';
import { type Given, sameCommand } from '../lib/wizard/same-command.ts';
import { withoutCredentials } from './public-text.ts';

/** Fields of a spec that flags of `create volume` set. */
const WITH_FLAGS: ReadonlySet<string> = new Set<keyof VolumeSpec>([
  'nodeName',
  'storageClassName',
  'mode',
  'template',
  'sparseLoopDevice',
  'rawBlockDevice',
  'lvmLogicalVolume',
  'attachPolicy',
  'overwrite',
  'onDelete',
]);

/**
 * Returns the command line of `stowage create volume` that creates a Volume with the same name and
 * spec; undefined if flags cannot express these. Pure.
 */
export function createCommand(
  { metadata, spec }: Volume,
  flags: Pick<GlobalFlags, 'kubeconfig' | 'context' | 'as'>,
): string | undefined {
  const { sparseLoopDevice: sparse, rawBlockDevice: raw, lvmLogicalVolume: lvm } = spec;
  const kinds = [sparse, raw, lvm].filter((each) => each != null);
  const labels = spec.template?.metadata?.labels;
  const isExpressible =
    Object.keys(spec).every((field) => WITH_FLAGS.has(field)) &&
    kinds.length === 1 &&
    isDnsSubdomain(spec.nodeName) &&
    isDnsSubdomain(spec.storageClassName) &&
    // Without other fields in the template; --labels sets both places.
    isDeepStrictEqual(spec.template ?? {}, labels === undefined ? {} : { metadata: { labels } }) &&
    isDeepStrictEqual(metadata.labels ?? {}, labels ?? {});
  if (!isExpressible) return undefined;
  const given: Given = {
    '--node': spec.nodeName,
    '--size': sized(sparse?.size ?? lvm?.size),
    '--directory': sparse?.directory,
    '--require-mount': sparse?.requireMount,
    '--device': raw?.devicePath,
    '--vg': lvm?.vgName,
    '--thin-pool': lvm?.thinPool,
    '--overwrite': spec.overwrite,
    '--storage-class': spec.storageClassName,
    '--mode': spec.mode,
    '--labels':
      labels === undefined || Object.keys(labels).length === 0
        ? undefined
        : Object.entries(labels)
            .map(([key, value]) => `${key}=${value}`)
            .join(','),
    '--on-delete': spec.onDelete,
    '--attach-policy': spec.attachPolicy,
  };
  const command = sameCommand(['create', 'volume', metadata.name], given, {
    ...flags,
    color: true,
  });
  // A text that the page would have to change is not the same command.
  return steers(command) || withoutCredentials(command) !== command ? undefined : command;
}

const sized = (size: string | number | undefined): string | undefined =>
  size === undefined ? undefined : String(size);
