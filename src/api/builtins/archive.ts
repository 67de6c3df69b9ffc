import type { KubeObject, Resource } from '../meta.ts';
import { STOWAGE_GROUP, STOWAGE_VERSION } from '../names.ts';
import {
  type BuiltinSource,
  COMPRESSIONS,
  type Compression,
  type OptionsFound,
  sourceOptions,
} from './source.ts';

/** Tar archive whose files a volume of mode Filesystem starts with. */
export interface Archive extends KubeObject {
  spec: {
    source: BuiltinSource;
    compression?: Compression;
    /** Permissions for entries that are refused by default. */
    allowDevices?: boolean;
    allowSetuid?: boolean;
  };
}

export const ARCHIVES: Resource = {
  group: STOWAGE_GROUP,
  version: STOWAGE_VERSION,
  plural: 'archives',
  kind: 'Archive',
  namespaced: true,
};

/** Returns the options of an Archive for the node. Pure. */
export function archiveOptions(object: KubeObject): OptionsFound {
  const { source, compression, allowDevices, allowSetuid } =
    (object as Partial<Archive>).spec ?? {};
  if (compression !== undefined && !COMPRESSIONS.includes(compression)) {
    return { problem: 'spec.compression must be none, gzip, zstd, xz or bzip2' };
  }
  const found = sourceOptions(source, compression);
  if ('problem' in found) return found;
  const allowed = [allowDevices === true && 'devices', allowSetuid === true && 'setuid'].filter(
    Boolean,
  );
  return {
    options: { ...found.options, allowed: allowed.join('+') || 'plain', mode: 'Filesystem' },
  };
}
