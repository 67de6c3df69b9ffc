import { BACKUPS } from '../api/builtins/backup.ts';
import type { Logger } from '../api/logger.ts';
import type { Resource } from '../api/meta.ts';
import {
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
} from '../api/resources.ts';

export interface AbsentCrds {
  /** Logs kinds that the API server does not serve, each group of them once. */
  report(resources: readonly Resource[]): void;
}

/** Groups of kinds that are installed together. */
const GROUPS: readonly { message: string; kinds: readonly Resource[] }[] = [
  {
    message:
      'optional CRDs are not installed, so there are no snapshots; to install them: stowage install --components snapshot-crds',
    kinds: [
      VOLUME_SNAPSHOTS,
      VOLUME_SNAPSHOT_CONTENTS,
      VOLUME_SNAPSHOT_CLASSES,
      VOLUME_SNAPSHOT_LINKS,
    ],
  },
  {
    message:
      'an optional CRD is not installed, so no namespace shares its snapshots and claims; to install it: stowage install --components referencegrant-crd',
    kinds: [REFERENCE_GRANTS],
  },
  {
    message:
      'optional CRDs are not installed, so there are no populators and backups; to install them: stowage install --components populator-crds',
    kinds: [VOLUME_POPULATORS, BACKUPS],
  },
  {
    message:
      'a CRD of this version is not installed, so there are no populators; to install it: stowage install --components crds',
    kinds: [POPULATOR_DEFINITIONS],
  },
];

const nameOf = ({ plural, group }: Resource): string => `${plural}.${group}`;

const OTHERS =
  'waiting for CRDs: the API server does not serve these kinds of a PopulatorDefinition';

/** Creates the report of missing CRDs that all parts of a daemon share. */
export function createAbsentCrds(logger: Logger): AbsentCrds {
  const reported = new Set<unknown>();
  return {
    report(resources) {
      for (const [group, missing] of Map.groupBy(resources, groupOf)) {
        const kinds = missing.map(nameOf);
        const key = group ?? kinds.join(' ');
        if (reported.has(key)) continue;
        reported.add(key);
        logger.info({ kinds }, group?.message ?? OTHERS);
      }
    },
  };
}

/** Returns the group of a missing kind; undefined for kinds that users registered. */
const groupOf = (resource: Resource) =>
  GROUPS.find(({ kinds }) => kinds.some((kind) => nameOf(kind) === nameOf(resource)));
