import REFERENCE_GRANT from './crds/gateway.networking.k8s.io_referencegrants.yaml';
import VOLUME_POPULATOR from './crds/populator.storage.k8s.io_volumepopulators.yaml';
import VOLUME_SNAPSHOT_CLASS from './crds/snapshot.storage.k8s.io_volumesnapshotclasses.yaml';
import VOLUME_SNAPSHOT_CONTENT from './crds/snapshot.storage.k8s.io_volumesnapshotcontents.yaml';
import VOLUME_SNAPSHOT_LINK from './crds/snapshot.storage.k8s.io_volumesnapshotlinks.yaml';
import VOLUME_SNAPSHOT from './crds/snapshot.storage.k8s.io_volumesnapshots.yaml';
import VOLUME from './crds/storage.metalk8s.scality.com_volumes.yaml';
import ARCHIVE from './crds/stowage.dev_archives.yaml';
import BACKUP from './crds/stowage.dev_backups.yaml';
import IMAGE from './crds/stowage.dev_images.yaml';
import LEFTOVER from './crds/stowage.dev_leftovers.yaml';
import POPULATOR_DEFINITION from './crds/stowage.dev_populatordefinitions.yaml';
import type { KubeObject } from './meta.ts';

/** CustomResourceDefinition (apiextensions.k8s.io/v1), as in the files in crds/. */
export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string;
    scope: 'Cluster' | 'Namespaced';
    names: { kind: string; listKind: string; plural: string; singular: string };
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      schema: { openAPIV3Schema: Schema };
    }[];
  };
}

/** Structural schema, as far as Stowage reads it. */
export interface Schema {
  enum?: string[];
  maxLength?: number;
  pattern?: string;
  properties?: Record<string, Schema>;
}

export {
  LEFTOVER as LEFTOVER_CRD,
  POPULATOR_DEFINITION as POPULATOR_DEFINITION_CRD,
  VOLUME as VOLUME_CRD,
  VOLUME_POPULATOR as VOLUME_POPULATOR_CRD,
};

/** CRDs of the installation component `crds`. */
export const CRDS: readonly CustomResourceDefinition[] = [VOLUME, LEFTOVER, POPULATOR_DEFINITION];

/** Other CRDs, by the component of an installation that adds them where they are absent. */
export const STANDARD_CRDS = {
  'snapshot-crds': [
    VOLUME_SNAPSHOT,
    VOLUME_SNAPSHOT_CONTENT,
    VOLUME_SNAPSHOT_CLASS,
    VOLUME_SNAPSHOT_LINK,
  ],
  'referencegrant-crd': [REFERENCE_GRANT],
  'populator-crds': [VOLUME_POPULATOR, IMAGE, ARCHIVE, BACKUP],
} as const;

/** CRDs that a sandbox serves from the start. */
export const ALL_CRDS: readonly CustomResourceDefinition[] = [
  ...CRDS,
  ...Object.values(STANDARD_CRDS).flat(),
];
