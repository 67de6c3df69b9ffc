import type { KubeNode } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import type { Leftover } from '../../../api/leftover.ts';
import type { KubeObject, Resource } from '../../../api/meta.ts';
import {
  LEFTOVERS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../../api/resources.ts';
import { listAll } from '../../../kube/client.ts';
import type { Connection } from '../../../kube/connect.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import type { Io } from '../../lib/io.ts';
import { asJson, asYaml } from '../../lib/output/data.ts';
import { foundIn, reading, readNamed } from '../../lib/read-result.ts';
import type { Target } from '../../lib/target.ts';
import { besideDaemons, readDaemons } from '../daemon.ts';
import { clusterOf, explain } from '../explain.ts';
import { explainLeftover } from '../leftover.ts';
import { type Explained, forAll, type WhyFlags } from '../types.ts';
import { diagnosedIn, noteForbidden } from '../why.ts';
import { groupsOf, type HeldUp } from './groups.ts';
import { createListedClient } from './listed-client.ts';
import { groupData, groupText } from './print.ts';

/** Kinds that can be blocked, in the order of output. */
const KINDS: readonly [kind: Target['kind'], resource: Resource][] = [
  ['Volume', VOLUMES],
  ['PersistentVolumeClaim', PERSISTENT_VOLUME_CLAIMS],
  ['VolumeSnapshot', VOLUME_SNAPSHOTS],
  ['Pod', PODS],
];

/**
 * Runs `stowage why --all`: explains all blocked objects, from one list of each kind. Throws a
 * StowageError `conflict` if there are any.
 */
export async function whyAll(
  flags: WhyFlags & GlobalFlags,
  io: Io,
  connection: Connection,
): Promise<void> {
  const { signal, clock } = io;
  const { namespace } = flags;
  const client = createListedClient(connection.client, namespace, signal);
  const cluster = clusterOf(connection, client, signal);
  const daemons = await readDaemons(client, signal);
  const explained: Explained[] = [];
  const unread: string[] = [];
  for (const [kind, resource] of KINDS) {
    // In a namespace, a Volume is explained with the claim that it blocks.
    if (namespace !== undefined && !resource.namespaced) continue;
    for (const { metadata } of await objectsOf(resource)) {
      explained.push(await explain(targetOf(kind, metadata), io, cluster));
    }
  }
  if (namespace === undefined) {
    for (const object of await objectsOf(LEFTOVERS)) {
      const leftover = object as Leftover;
      const { nodeName } = leftover.spec;
      const node = await readNamed<KubeNode>(client, NODES, nodeName, { signal });
      explained.push(explainLeftover(leftover, node));
    }
  }
  noteForbidden(
    explained.flatMap(({ readings }) => readings),
    io,
  );
  const now = clock.timeOfDay();
  const found = explained.flatMap(({ subject, diagnosis, node }): HeldUp[] => {
    if ('nothing' in diagnosis) return [];
    const whole = besideDaemons(daemons, diagnosis, { kind: subject.kind, node }, now);
    const shown = diagnosedIn(flags, forAll(whole));
    return 'nothing' in shown ? [] : [{ subject, blocker: shown }];
  });
  const groups = groupsOf(found);
  const data = { groups: groups.map(groupData) };
  if (flags.output === 'json') io.stdout.write(asJson(data));
  else if (flags.output === 'yaml') io.stdout.write(asYaml(data));
  else io.stdout.write(groups.map((group) => groupText(group, now)).join('\n'));
  if (found.length > 0) throw new StowageError('conflict', summary(found.length, groups.length));
  if (unread.length > 0)
    throw new StowageError(
      'forbidden',
      `other objects may be blocked as well: you may not list ${unread.join(', ')}`,
    );
  if (flags.output === undefined)
    io.stderr.write(
      `nothing is held up${namespace === undefined ? '' : ` in namespace ${namespace}`}\n`,
    );

  /** Returns the objects of a kind; none if the cluster does not know the kind. */
  async function objectsOf(resource: Resource): Promise<readonly KubeObject[]> {
    const options = resource.namespaced ? { namespace, signal } : { signal };
    const read = await reading(listAll<KubeObject>(client, resource, options));
    if ('forbidden' in read) {
      noteForbidden([{ read }], io);
      unread.push(resource.plural);
    }
    return foundIn(read)?.items ?? [];
  }
}

const targetOf = (kind: Target['kind'], { name, namespace }: KubeObject['metadata']): Target => ({
  kind,
  name,
  ...(namespace !== undefined && { namespace }),
});

const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`;

const summary = (objects: number, causes: number): string =>
  `${count(objects, 'object')} ${objects === 1 ? 'is' : 'are'} blocked, by ${count(causes, 'cause')}`;
