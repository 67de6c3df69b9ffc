import type { StorageClass } from '../api/core.ts';
import { checkMkfsOptions } from '../storage/mkfs-options.ts';

/** What a class says about the volumes of it, checked. */
export interface ClassOptions {
  fsType: 'ext4';
  mkfsOptions: string[];
  mountOptions: string[];
}

/** Options of a class, or why no volume can be made of it: the parameters are MetalK8s's. */
export function checkClass({
  metadata,
  parameters = {},
  mountOptions = [],
}: StorageClass): ClassOptions | { problem: string } {
  // MetalK8s fails without a type (a KeyError); ext4 is what its documentation has, and the kubelet's default.
  const fsType = parameters.fsType ?? 'ext4';
  if (fsType !== 'ext4') return { problem: `unsupported filesystem: ${fsType}` };
  const checked = checkMkfsOptions(parseList(parameters.mkfsOptions ?? '[]'));
  if ('problem' in checked) {
    return { problem: `parameter mkfsOptions of storage class ${metadata.name}: ${checked.problem}` };
  }
  return { fsType, mkfsOptions: checked.options, mountOptions };
}

/** What is no JSON is refused like JSON that is no list. */
function parseList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
