import { STOWAGE_GROUP, STOWAGE_VERSION } from '../names.ts';
import { AGE, column, oneOf, root, string, time } from '../standard-crd.ts';
import { BACKUP_PHASES, BACKUPS } from './backup.ts';
import { SOURCE_SCHEMA } from './source.ts';

const name = (description: string) => ({ ...string(description), minLength: 1, maxLength: 253 });
const count = (description: string) => ({
  type: 'integer',
  format: 'int64',
  minimum: 0,
  description,
});
const { sha256: _sha256, ...target } = SOURCE_SCHEMA.properties;

/** The CustomResourceDefinition (apiextensions.k8s.io/v1) of Backup. */
export const BACKUP_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${BACKUPS.plural}.${STOWAGE_GROUP}` },
  spec: {
    group: STOWAGE_GROUP,
    scope: 'Namespaced',
    names: {
      kind: BACKUPS.kind,
      listKind: 'BackupList',
      plural: BACKUPS.plural,
      singular: 'backup',
    },
    versions: [
      {
        name: STOWAGE_VERSION,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          column('Phase', '.status.phase'),
          column('Bytes', '.status.bytes', 'integer'),
          column('Claim', '.spec.claimName'),
          column('Snapshot', '.spec.snapshotName'),
          column('URL', '.spec.to.url'),
          column('Path', '.spec.to.path'),
          AGE,
        ],
        schema: {
          openAPIV3Schema: root(
            'What a volume has at one time, as an archive elsewhere.',
            ['spec'],
            {
              spec: {
                type: 'object',
                description: 'Of what, and where it is put.',
                required: ['to'],
                'x-kubernetes-validations': [
                  { rule: 'self == oldSelf', message: 'spec is immutable' },
                  oneOf('claimName', 'snapshotName'),
                ],
                properties: {
                  claimName: name(
                    'A claim of the same namespace; a snapshot of it is taken for that.',
                  ),
                  snapshotName: name('A VolumeSnapshot of the same namespace.'),
                  to: { ...SOURCE_SCHEMA, description: 'Where it is put.', properties: target },
                },
              },
              status: {
                type: 'object',
                description: 'How far it is, and what came of it.',
                properties: {
                  phase: {
                    type: 'string',
                    enum: [...BACKUP_PHASES],
                    description: 'How far it is.',
                  },
                  message: { ...string('What it waits for, or why it failed.'), nullable: true },
                  node: string('The node that it is made on.'),
                  attempt: count('How many jobs were named for it.'),
                  startedAt: time('When the last of them was named.'),
                  volumeMode: {
                    type: 'string',
                    enum: ['Filesystem', 'Block'],
                    description: 'An archive of files, or the content of a device.',
                  },
                  restoreSize: count('What a volume that is made from it has at least, in bytes.'),
                  bytes: count('Of the archive.'),
                  sha256: string('Of the archive, in hexadecimal.'),
                  finishedAt: time('When it was whole.'),
                },
              },
            },
          ),
        },
      },
    ],
  },
} as const;
