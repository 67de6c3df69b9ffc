import type { KubeObject, Resource } from '../meta.ts';
import { STOWAGE_GROUP, STOWAGE_VERSION } from '../names.ts';
import {
  type BuiltinSource,
  COMPRESSIONS,
  type Compression,
  type OptionsFound,
  sourceOptions,
} from './source.ts';

/**
 * Content of a disk: a volume of mode Block starts with it, and one of mode
 * Filesystem has it as the file disk.img.
 */
export interface Image extends KubeObject {
  spec: { source: BuiltinSource; format?: 'raw' | 'qcow2'; compression?: Compression };
}

export const IMAGES: Resource = {
  group: STOWAGE_GROUP,
  version: STOWAGE_VERSION,
  plural: 'images',
  kind: 'Image',
  namespaced: true,
};

/** Returns the options of an Image for the node. Pure. */
export function imageOptions(object: KubeObject): OptionsFound {
  const { source, format = 'raw', compression } = (object as Partial<Image>).spec ?? {};
  if (format !== 'raw' && format !== 'qcow2')
    return { problem: 'spec.format must be raw or qcow2' };
  if (compression !== undefined && !COMPRESSIONS.includes(compression)) {
    return { problem: 'spec.compression must be none, gzip, zstd, xz or bzip2' };
  }
  const found = sourceOptions(source, compression);
  return 'problem' in found ? found : { options: { ...found.options, format } };
}
