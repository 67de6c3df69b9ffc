import { isDeepStrictEqual } from 'node:util';
import type { PersistentVolumeClaim } from '../../api/core.ts';
import { PERSISTENT_VOLUME_CLAIMS, VOLUME_SNAPSHOT_LINKS } from '../../api/resources.ts';
import type { ReferenceGrant, VolumeSnapshotLink } from '../../api/snapshot.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Io } from '../lib/io.ts';
import { type Followed, followKind } from '../lib/objects/follow-kind.ts';
import type { WatchPrinter } from '../lib/output/watch-printer.ts';
import { type GrantRow, grantees, rowOf } from './row.ts';

/**
 * Prints the rows of grants, again when a claim or link that uses them comes or goes. Follows
 * claims and links in all namespaces that the grants name. Prints a grant once these are listed.
 * Call `stop` at the end.
 */
export function withUses(
  printer: WatchPrinter<GrantRow>,
  client: KubeClient,
  io: Io,
): WatchPrinter<ReferenceGrant> & { stop(): Promise<void> } {
  const grants = new Map<string, ReferenceGrant>();
  const shown = new Map<string, GrantRow>();
  const claims = new Map<string, Followed<PersistentVolumeClaim>>();
  const links = new Map<string, Followed<VolumeSnapshotLink>>();

  function show(): void {
    const changed: GrantRow[] = [];
    for (const [key, grant] of grants) {
      const known = grantees(grant);
      const isKnown = (namespace: string) =>
        claims.get(namespace)?.isKnown() && links.get(namespace)?.isKnown();
      if (!known.every(isKnown)) continue;
      const referrers = known.map((namespace) => {
        const found = {
          claims: claims.get(namespace)?.list(),
          links: links.get(namespace)?.list(),
        };
        return [namespace, { claims: found.claims ?? [], links: found.links ?? [] }] as const;
      });
      const row = rowOf(grant, new Map(referrers));
      if (isDeepStrictEqual(shown.get(key), row)) continue;
      shown.set(key, row);
      changed.push(row);
    }
    if (changed.length > 0) printer.print(changed, false);
  }

  function follow(namespace: string): void {
    if (claims.has(namespace)) return;
    const of = { client, namespace, io, leave: printer.leave, onChange: show };
    claims.set(namespace, followKind<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, of));
    links.set(namespace, followKind<VolumeSnapshotLink>(VOLUME_SNAPSHOT_LINKS, of));
  }

  return {
    print(things, gone) {
      const ended: GrantRow[] = [];
      for (const grant of things) {
        const key = `${grant.metadata.namespace}/${grant.metadata.name}`;
        if (gone) {
          ended.push(shown.get(key) ?? rowOf(grant, new Map()));
          grants.delete(key);
          shown.delete(key);
        } else {
          grants.set(key, grant);
          for (const namespace of grantees(grant)) follow(namespace);
        }
      }
      if (ended.length > 0) printer.print(ended, true);
      show();
    },
    refresh: printer.refresh,
    leave: printer.leave,
    async stop() {
      await Promise.all([...claims.values(), ...links.values()].map((each) => each.stop()));
    },
  };
}
