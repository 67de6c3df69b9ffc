import { ARCHIVE_CRD } from './builtins/archive.ts';
import { BACKUP_CRD } from './builtins/backup-crd.ts';
import { IMAGE_CRD } from './builtins/image.ts';
import { LEFTOVER_CRD } from './leftover-crd.ts';
import { POPULATOR_DEFINITION_CRD } from './populator-definition-crd.ts';
import { REFERENCE_GRANT_CRD } from './reference-grant-crd.ts';
import { VOLUME_CRD } from './volume-crd.ts';
import { VOLUME_POPULATOR_CRD } from './volume-populator-crd.ts';
import { VOLUME_SNAPSHOT_CLASS_CRD } from './volume-snapshot-class-crd.ts';
import { VOLUME_SNAPSHOT_CONTENT_CRD } from './volume-snapshot-content-crd.ts';
import { VOLUME_SNAPSHOT_CRD } from './volume-snapshot-crd.ts';
import { VOLUME_SNAPSHOT_LINK_CRD } from './volume-snapshot-link-crd.ts';

/** All that Stowage brings. */
export const CRDS = [VOLUME_CRD, LEFTOVER_CRD, POPULATOR_DEFINITION_CRD] as const;

/** Standard kinds that Stowage works with, by the component of an installation that brings them where they are absent. */
export const STANDARD_CRDS = {
  'snapshot-crds': [
    VOLUME_SNAPSHOT_CRD,
    VOLUME_SNAPSHOT_CONTENT_CRD,
    VOLUME_SNAPSHOT_CLASS_CRD,
    VOLUME_SNAPSHOT_LINK_CRD,
  ],
  'referencegrant-crd': [REFERENCE_GRANT_CRD],
  'populator-crds': [VOLUME_POPULATOR_CRD, IMAGE_CRD, ARCHIVE_CRD, BACKUP_CRD],
} as const;

/** What a sandbox serves from the start. */
export const ALL_CRDS = [...CRDS, ...Object.values(STANDARD_CRDS).flat()] as const;
