import type { KubeObject, Resource } from '../meta.ts';
import { STOWAGE_GROUP, STOWAGE_VERSION } from '../names.ts';
import {
  type BuiltinSource,
  COMPRESSIONS,
  type Compression,
  type OptionsFound,
  sourceOptions,
} from './source.ts';

/** A disk's content: a volume of mode Block begins with it, one of mode Filesystem with a file disk.img that has it. */
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

/** What the node is told of an Image. Pure. */
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
