import type { KubeObject, Resource } from '../meta.ts';
import { STOWAGE_GROUP, STOWAGE_VERSION } from '../names.ts';
import { AGE, column, root } from '../standard-crd.ts';
import {
  type BuiltinSource,
  COMPRESSION_SCHEMA,
  type Compression,
  type OptionsFound,
  SOURCE_SCHEMA,
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
  if (compression !== undefined && !COMPRESSION_SCHEMA.enum.includes(compression)) {
    return { problem: 'spec.compression must be none, gzip, zstd, xz or bzip2' };
  }
  const found = sourceOptions(source, compression);
  return 'problem' in found ? found : { options: { ...found.options, format } };
}

export const IMAGE_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${IMAGES.plural}.${STOWAGE_GROUP}` },
  spec: {
    group: STOWAGE_GROUP,
    scope: 'Namespaced',
    names: { kind: IMAGES.kind, listKind: 'ImageList', plural: IMAGES.plural, singular: 'image' },
    versions: [
      {
        name: STOWAGE_VERSION,
        served: true,
        storage: true,
        additionalPrinterColumns: [
          column('URL', '.spec.source.url'),
          column('Path', '.spec.source.path'),
          column('Format', '.spec.format'),
          AGE,
        ],
        schema: {
          openAPIV3Schema: root("A disk's content, which volumes begin with.", ['spec'], {
            spec: {
              type: 'object',
              description: 'Where it is, and what.',
              required: ['source'],
              'x-kubernetes-validations': [
                { rule: 'self == oldSelf', message: 'spec is immutable' },
              ],
              properties: {
                source: SOURCE_SCHEMA,
                format: {
                  type: 'string',
                  enum: ['raw', 'qcow2'],
                  default: 'raw',
                  description: 'Of what is downloaded, once it is unpacked. It is never guessed.',
                },
                compression: COMPRESSION_SCHEMA,
              },
            },
          }),
        },
      },
    ],
  },
} as const;
