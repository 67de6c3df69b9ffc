import type { PersistentVolumeClaim, StorageClass } from '../../api/core.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import { DRIVER, NO_PROVISIONER } from '../../api/names.ts';
import { phaseOf } from '../../api/phase.ts';
import {
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  POPULATOR_DEFINITIONS,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotClass } from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import type { Connection } from '../../kube/connect.ts';
import { servedGrants } from '../lib/objects/grant-kinds.ts';
import type { Candidate } from './parse-cursor.ts';
import type { Live, Values } from './values.ts';

interface Listed<T extends KubeObject = KubeObject> {
  resource: Resource;
  isMeant?: (object: T) => boolean;
  describe?: (object: T) => string | undefined;
}

const listed = <T extends KubeObject>(what: Listed<T>): Listed => what as unknown as Listed;

const classes = (isMeant: (provisioner: string) => boolean): Listed =>
  listed<StorageClass>({
    resource: STORAGE_CLASSES,
    isMeant: ({ provisioner }) => isMeant(provisioner),
    describe: ({ provisioner }) => provisioner,
  });

const KINDS: Readonly<Record<Exclude<Live, 'contexts' | 'grants'>, Listed>> = {
  volumes: listed<Volume>({
    resource: VOLUMES,
    describe: (volume) => `${phaseOf(volume) ?? 'Unknown'} on ${volume.spec.nodeName}`,
  }),
  nodes: { resource: NODES },
  classes: classes((provisioner) => [DRIVER, NO_PROVISIONER].includes(provisioner)),
  'static-classes': classes((provisioner) => provisioner === NO_PROVISIONER),
  'dynamic-classes': classes((provisioner) => provisioner !== NO_PROVISIONER),
  'snapshot-classes': listed<VolumeSnapshotClass>({
    resource: VOLUME_SNAPSHOT_CLASSES,
    isMeant: ({ driver }) => driver === DRIVER,
    describe: ({ deletionPolicy }) => deletionPolicy,
  }),
  snapshots: listed<VolumeSnapshot>({
    resource: VOLUME_SNAPSHOTS,
    describe: ({ status }) => (status?.readyToUse ? 'ready' : 'not ready'),
  }),
  claims: listed<PersistentVolumeClaim>({
    resource: PERSISTENT_VOLUME_CLAIMS,
    describe: ({ status }) => status?.phase,
  }),
  pods: { resource: PODS },
  populators: { resource: POPULATOR_DEFINITIONS },
  namespaces: { resource: NAMESPACES },
};

/** Number of objects per list request. */
const PAGE = 500;

/**
 * Returns the names of existing objects that begin with `start`. Objects of namespaced kinds
 * are those in the namespace of `start`, else in `namespace`. Returns all names or none: a shell
 * inserts the common prefix of a partial list. Throws for kinds that the user may not list or that
 * are not served, and if the signal aborts.
 */
export async function liveNames(
  { live, anywhere, before }: Extract<Values, { live: Live }> & { live: Exclude<Live, 'contexts'> },
  start: string,
  namespace: string,
  connection: Connection,
  signal: AbortSignal,
): Promise<Candidate[]> {
  if (before) return start.includes('/') ? [] : spaces(start, connection, signal);
  const [, ofStart, rest = start] = /^([^/]*)\/(.*)$/.exec(anywhere ? start : '') ?? [];
  const what = live === 'grants' ? await grants(connection, signal) : KINDS[live];
  if (what === undefined) return [];
  const found = list(what, rest, ofStart ?? namespace, connection, signal);
  if (!anywhere) return found;
  if (ofStart !== undefined) {
    return (await found).map((each) => ({ ...each, word: `${ofStart}/${each.word}` }));
  }
  // Users who may not list namespaces still get the names in this one.
  const [here, others] = await Promise.all([
    found,
    spaces(start, connection, signal).catch(() => []),
  ]);
  return [...here, ...others];
}

const spaces = async (
  start: string,
  connection: Connection,
  signal: AbortSignal,
): Promise<Candidate[]> =>
  (await list(KINDS.namespaces, start, '', connection, signal)).map(({ word }) => ({
    word: `${word}/`,
  }));

async function grants(connection: Connection, signal: AbortSignal): Promise<Listed | undefined> {
  const resource = await servedGrants(connection, signal);
  return resource && { resource };
}

async function list(
  { resource, isMeant = () => true, describe = () => undefined }: Listed,
  start: string,
  namespace: string,
  { client }: Connection,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const found: Candidate[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(resource, {
      namespace,
      limit: PAGE,
      signal,
      ...(next !== undefined && { continue: next }),
    });
    for (const object of page.items) {
      const word = object.metadata.name;
      if (!word.startsWith(start) || !isMeant(object)) continue;
      const description = describe(object);
      found.push({ word, ...(description && { description }) });
    }
    // Objects are sorted by name (etcd's order): no later page has a match.
    const last = page.items.at(-1)?.metadata.name ?? '';
    next =
      last > start && !last.startsWith(start) ? undefined : page.metadata.continue || undefined;
  } while (next !== undefined);
  return found;
}
