import type {
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../../api/core.ts';
import type { Resource } from '../../../api/meta.ts';
import { NO_PROVISIONER, VOLUME_API_VERSION } from '../../../api/names.ts';
import {
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { listAll } from '../../../kube/client.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import { eventsOf } from '../../lib/objects/events.ts';
import type { ReadClient } from '../../lib/objects/related.ts';
import { readyOf } from '../../lib/objects/volume-progress.ts';
import { foundIn, type Reading, reading, readNamed } from '../../lib/read-result.ts';
import { readClaim, readSupply } from '../claim/read.ts';
import { readPlacement } from '../placement.ts';
import { readFacts } from '../read.ts';
import type { PodFacts, PodVolume } from './facts.ts';

const ABSENT = { absent: true } as const;

/**
 * Reads a pod and its volumes. Throws a StowageError; a refusal stands for an unreadable object.
 * @param grants returns the version in which ReferenceGrants are served
 */
export async function readPod(
  name: string,
  namespace: string,
  client: ReadClient,
  grants: () => Promise<Resource | undefined>,
  signal: AbortSignal,
  now: number,
): Promise<PodFacts> {
  const pod = await client.get<Pod>(PODS, name, { namespace, signal });
  const node = await readNamed<KubeNode>(client, NODES, pod.spec.nodeName, { signal });
  const volumes: PodVolume[] = [];
  for (const each of pod.spec.volumes ?? []) {
    const claimName =
      each.persistentVolumeClaim?.claimName ?? (each.ephemeral && `${name}-${each.name}`);
    const path = each.hostPath?.type === 'BlockDevice' ? each.hostPath.path : undefined;
    if (claimName !== undefined) {
      const claim = await readNamed<PersistentVolumeClaim>(
        client,
        PERSISTENT_VOLUME_CLAIMS,
        claimName,
        {
          namespace,
          signal,
        },
      );
      volumes.push(await behind(`${namespace}/${claimName}`, claim));
    } else if (path !== undefined) volumes.push(...(await named(path)));
  }
  const unbound = volumes.some(
    ({ claim, dynamic }) =>
      dynamic === undefined && foundIn(claim) && foundIn(claim)?.status?.phase !== 'Bound',
  );
  const supply = unbound ? await readSupply(client, signal) : undefined;
  return { pod, node, volumes, events: await readEvents(), supply };

  /**
   * Reads the events if they decide which blocker of a Volume comes first: that it is not Ready,
   * or that another node has it.
   */
  async function readEvents(): Promise<PodFacts['events']> {
    const isAsked = volumes.some(({ known }) => known && holderOf(known.volume) !== undefined);
    if (!isAsked) return ABSENT;
    const { uid } = pod.metadata;
    const read = await reading(eventsOf(client, { namespace, name, uid }, signal));
    return 'found' in read ? { found: read.found.events } : read;
  }

  async function behind(
    claimName: string,
    claim: Reading<PersistentVolumeClaim>,
  ): Promise<PodVolume> {
    const pv = await readNamed<PersistentVolume>(
      client,
      PERSISTENT_VOLUMES,
      foundIn(claim)?.spec.volumeName,
      {
        signal,
      },
    );
    const owner = foundIn(pv)?.metadata.ownerReferences?.find(
      ({ kind, apiVersion }) => kind === 'Volume' && apiVersion === VOLUME_API_VERSION,
    );
    if (owner === undefined) {
      return {
        claimName,
        claim,
        pv,
        volume: undefined,
        known: undefined,
        holder: ABSENT,
        ...(await dynamicOf(claim)),
      };
    }
    const read = await readNamed<Volume>(client, VOLUMES, owner.name, { signal });
    // Another Volume of that name is unrelated to the claim.
    const other = foundIn(read) !== undefined && foundIn(read)?.metadata.uid !== owner.uid;
    const volume = other ? ABSENT : read;
    return { claimName, claim, pv, ...(await about(volume)), ...(await placementOf(volume, pv)) };
  }

  /** Returns where the PersistentVolume leads, if a scheduler still has to place the pod. */
  async function placementOf(
    volume: Reading<Volume>,
    pv: Reading<PersistentVolume>,
  ): Promise<Pick<PodVolume, 'placement'>> {
    const [found, own] = [foundIn(volume), foundIn(pv)];
    if (pod.spec.nodeName || found === undefined || own === undefined) return {};
    const node = await readNamed<KubeNode>(client, NODES, nodeOf(found), { signal });
    return { placement: await readPlacement(client, found, own, node, signal) };
  }

  async function dynamicOf(
    read: Reading<PersistentVolumeClaim>,
  ): Promise<Pick<PodVolume, 'dynamic' | 'byHand'>> {
    const claim = foundIn(read);
    if (claim === undefined || claim.status?.phase === 'Bound') return {};
    const { storageClassName } = claim.spec;
    const found = await readNamed<StorageClass>(client, STORAGE_CLASSES, storageClassName, {
      signal,
    });
    if ('forbidden' in found) return {};
    const byHand = foundIn(found);
    if (byHand?.provisioner === NO_PROVISIONER) return { byHand };
    return { dynamic: await readClaim(claim, client, grants, signal, now) };
  }

  /** Returns the Volume with a persistent path. */
  async function named(path: string): Promise<PodVolume[]> {
    const { items } = await listAll<Volume>(client, VOLUMES, { signal });
    const volume = items.find(({ status }) => status?.devicePath === path);
    if (volume === undefined) return [];
    return [
      { claimName: undefined, claim: ABSENT, pv: ABSENT, ...(await about({ found: volume })) },
    ];
  }

  async function about(
    volume: Reading<Volume>,
  ): Promise<Pick<PodVolume, 'volume' | 'known' | 'holder'>> {
    const found = foundIn(volume);
    const isReady = found === undefined || readyOf(found)?.status === 'True';
    const known = isReady ? undefined : await readFacts(client, found, signal);
    const holder = await readNamed<KubeNode>(client, NODES, found && holderOf(found), { signal });
    return { volume, known, holder };
  }

  /** Returns a node, other than the pod's, that has the Volume. */
  function holderOf({ status }: Volume): string | undefined {
    return status?.attachments?.find(({ node }) => node !== pod.spec.nodeName)?.node;
  }
}
