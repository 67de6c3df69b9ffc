import { isDnsSubdomain } from '../../../api/dns-name.ts';
import { DEFAULT_SNAPSHOT_CLASS_ANNOTATION, DRIVER } from '../../../api/names.ts';
import type { VolumeSnapshotClass } from '../../../api/snapshot.ts';
import { commandLine } from '../../lib/command-line.ts';
import { foundIn } from '../../lib/read-result.ts';
import type { Blocker, Fix } from '../types.ts';
import type { SnapshotFacts } from './read.ts';

/** Reports a class missing or of another driver. A snapshot with given content needs none. */
export function snapshotClass({ snapshot, classes: read }: SnapshotFacts): Blocker | undefined {
  const { source, volumeSnapshotClassName: named } = snapshot.spec;
  const classes = 'absent' in read ? [] : foundIn(read);
  if (source.volumeSnapshotContentName !== undefined || classes === undefined) return undefined;
  const { creationTimestamp } = snapshot.metadata;
  const since = creationTimestamp === undefined ? {} : { since: creationTimestamp };
  if (!named) {
    const defaults = classes.filter(isDefault);
    if (defaults.length === 1) return undefined;
    const several = defaults.map(({ metadata }) => metadata.name).join(', ');
    return {
      cause: 'SnapshotClassMissing',
      holdup: `it names no class, and there ${defaults.length === 0 ? `is no default one of ${DRIVER}` : `are several default ones of ${DRIVER}: ${several}`}`,
      ...since,
      next: { when: 'when there is exactly one default class' },
      fix:
        defaults.length === 0
          ? { say: 'Create a class:', run: ['stowage create snapshotclass stowage --default'] }
          : { say: `Remove the annotation ${DEFAULT_SNAPSHOT_CLASS_ANNOTATION} from all but one.` },
    };
  }
  const found = classes.find(({ metadata }) => metadata.name === named);
  if (found === undefined) {
    return {
      cause: 'SnapshotClassMissing',
      holdup: `its class ${named} does not exist`,
      ...since,
      next: { when: 'when that class is created' },
      fix: createClass(named),
    };
  }
  if (found.driver === DRIVER) return undefined;
  return {
    cause: 'ForeignProvisioner',
    holdup: `its class ${named} is of the driver ${found.driver}, not of Stowage`,
    ...since,
    next: { when: `when ${found.driver} takes it, which it does for its own volumes only` },
    fix: { say: `Create the snapshot again with a class of ${DRIVER}.` },
  };
}

const isDefault = ({ driver, metadata }: VolumeSnapshotClass): boolean =>
  driver === DRIVER && metadata.annotations?.[DEFAULT_SNAPSHOT_CLASS_ANNOTATION] === 'true';

/** Returns the fix for a class that a user named, who may have named anything. */
const createClass = (name: string): Fix =>
  isDnsSubdomain(name)
    ? { say: 'Create the class:', run: [commandLine('stowage', 'create', 'snapshotclass', name)] }
    : { say: 'Create the snapshot again: no class can have that name.' };
