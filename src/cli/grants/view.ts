import { age } from '../../api/age.ts';
import type { PersistentVolumeClaim } from '../../api/core.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  REFERENCE_GRANTS,
  VOLUME_SNAPSHOT_LINKS,
} from '../../api/resources.ts';
import type { ReferenceGrant, VolumeSnapshotLink } from '../../api/snapshot.ts';
import type { KubeClient } from '../../kube/types.ts';
import { readObjects, selectionOf } from '../lib/get/get-objects.ts';
import { listReadable } from '../lib/get/list-readable.ts';
import type { ResourceView } from '../lib/get/resource-view.ts';
import type { Io } from '../lib/io.ts';
import { requiredGrants } from '../lib/objects/grant-kinds.ts';
import { nameIn } from '../lib/objects/name.ts';
import { watchObjects } from '../lib/objects/watch.ts';
import { type GrantRow, grantees, isOfVolumes, type Referrers, rowOf } from './row.ts';
import { withUses } from './uses.ts';

/** View of `stowage get grants`: namespaces that may use snapshots, and their claims and links. */
export const GRANT_VIEW: ResourceView<GrantRow> = {
  plural: 'grants',
  filters: ['selector', 'allNamespaces'],
  columns: [
    ['NAMESPACE', ({ namespace }) => namespace, 'all-namespaces'],
    ['NAME', ({ name }) => name],
    ['FROM', fromText, 'state'],
    ['TO', toText],
    ['USED-BY', usesText],
    ['AGE', ({ since }, now) => age(since, now)],
  ],
  keyOf: ({ namespace, name }) => `${namespace}/${name}`,
  nameOf: ({ name }) => nameIn(REFERENCE_GRANTS, name),
  async get(request) {
    const { flags, io, connection } = request;
    const resource = await requiredGrants(connection, io.signal);
    const selection = selectionOf(request, { resource, isWanted: isOfVolumes });
    const { objects, errors } = await readObjects<ReferenceGrant>(selection, io);
    if (!flags.watch || errors.length > 0) {
      const referrers = await readReferrers(objects, connection.client, io);
      const rows = objects.map((grant) => rowOf(grant, referrers));
      return request.show(rows, errors);
    }
    const printer = withUses(request.printer(), connection.client, io);
    try {
      await watchObjects(selection, objects, printer, io);
    } finally {
      await printer.stop();
    }
  },
};

/** Lists the claims and links of each namespace that the grants name. */
async function readReferrers(
  grants: readonly ReferenceGrant[],
  client: KubeClient,
  io: Io,
): Promise<Map<string, Referrers>> {
  const all = new Map<string, Referrers>();
  for (const from of new Set(grants.flatMap(grantees))) {
    all.set(from, {
      claims: await listReadable<PersistentVolumeClaim>(client, PERSISTENT_VOLUME_CLAIMS, io, from),
      links: await listReadable<VolumeSnapshotLink>(client, VOLUME_SNAPSHOT_LINKS, io, from),
    });
  }
  return all;
}

function fromText({ from }: GrantRow): string {
  return [...Map.groupBy(from, ({ namespace }) => namespace)]
    .map(([namespace, each]) => `${namespace} (${each.map((one) => one.for).join(',')})`)
    .join(', ');
}

function toText({ to }: GrantRow): string {
  return to
    .map(({ kind, name = '*' }) => (kind === 'VolumeSnapshot' ? name : `pvc/${name}`))
    .join(',');
}

function usesText({ usedBy }: GrantRow): string {
  const linked = (kind: string) => (kind === 'VolumeSnapshotLink' ? 'link ' : '');
  return usedBy
    .map(({ kind, namespace, name }) => `${linked(kind)}${namespace}/${name}`)
    .join(', ');
}
