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

/** A tar archive, whose files a volume of mode Filesystem begins with. */
export interface Archive extends KubeObject {
  spec: {
    source: BuiltinSource;
    compression?: Compression;
    /** What is refused otherwise. */
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

/** What the node is told of an Archive. Pure. */
export function archiveOptions(object: KubeObject): OptionsFound {
  const { source, compression, allowDevices, allowSetuid } =
    (object as Partial<Archive>).spec ?? {};
  if (compression !== undefined && !COMPRESSION_SCHEMA.enum.includes(compression)) {
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

const allow = (what: string) => ({
  type: 'boolean',
  default: false,
  description: `Whether it may have ${what}; an archive that has some is refused otherwise.`,
});

export const ARCHIVE_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${ARCHIVES.plural}.${STOWAGE_GROUP}` },
  spec: {
    group: STOWAGE_GROUP,
    scope: 'Namespaced',
    names: {
      kind: ARCHIVES.kind,
      listKind: 'ArchiveList',
      plural: ARCHIVES.plural,
      singular: 'archive',
    },
    versions: [
      {
        name: STOWAGE_VERSION,
        served: true,
        storage: true,
        additionalPrinterColumns: [
          column('URL', '.spec.source.url'),
          column('Path', '.spec.source.path'),
          column('Compression', '.spec.compression'),
          AGE,
        ],
        schema: {
          openAPIV3Schema: root('A tar archive, whose files volumes begin with.', ['spec'], {
            spec: {
              type: 'object',
              description: 'Where it is, and what it may have.',
              required: ['source'],
              'x-kubernetes-validations': [
                { rule: 'self == oldSelf', message: 'spec is immutable' },
              ],
              properties: {
                source: SOURCE_SCHEMA,
                compression: COMPRESSION_SCHEMA,
                allowDevices: allow('device files'),
                allowSetuid: allow('programs that are setuid or setgid, or have capabilities'),
              },
            },
          }),
        },
      },
    ],
  },
} as const;
