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
          ? defaultClass(classes)
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

const NAME = 'stowage';

/** Returns the fix that makes a class of Stowage the default: an existing one, else a new one. */
function defaultClass(classes: readonly VolumeSnapshotClass[]): Fix {
  const own = classes
    .filter(({ driver }) => driver === DRIVER)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const [first] = own;
  if (first !== undefined) {
    const { name, annotations } = first.metadata;
    const isSet = annotations?.[DEFAULT_SNAPSHOT_CLASS_ANNOTATION] !== undefined;
    const set = [
      name,
      `${DEFAULT_SNAPSHOT_CLASS_ANNOTATION}=true`,
      ...(isSet ? ['--overwrite'] : []),
    ];
    const names = own.map(({ metadata }) => metadata.name).join(', ');
    return {
      say:
        own.length === 1
          ? 'Make the class the default:'
          : `Make one of the classes ${names} the default, for example:`,
      run: [commandLine('kubectl', 'annotate', 'volumesnapshotclass', ...set)],
    };
  }
  if (classes.some(({ metadata }) => metadata.name === NAME)) {
    return {
      say: `Create a default class of ${DRIVER} with stowage create snapshotclass, under a free name: class ${NAME} is of another driver.`,
    };
  }
  return {
    say: 'Create a class:',
    run: [commandLine('stowage', 'create', 'snapshotclass', NAME, '--default')],
  };
}

/** Returns the fix for a class that a user named, who may have named anything. */
const createClass = (name: string): Fix =>
  isDnsSubdomain(name)
    ? { say: 'Create the class:', run: [commandLine('stowage', 'create', 'snapshotclass', name)] }
    : { say: 'Create the snapshot again: no class can have that name.' };
