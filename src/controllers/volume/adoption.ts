import { basename } from 'node:path/posix';
import type { KubeNode } from '../../api/core.ts';
import type { Leftover } from '../../api/leftover.ts';
import type { KubeObject } from '../../api/meta.ts';
import { type Refused, refuse } from '../../api/reasons.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import { parseHandle, snapshotUidOf } from '../../api/snapshot-handle.ts';
import type { Volume } from '../../api/volume.ts';
import { judgeNode } from '../../model/node-death.ts';
import type { NotReadyAge } from '../../model/node-health.ts';
import { eligibleNodes, nodeOf } from '../../model/volume-nodes.ts';

/** Objects of the API server that may prevent an adoption. */
export interface Claimants {
  /** All Volumes of the cluster. */
  volumes: readonly Volume[];
  /** The Leftover with the UID to adopt. */
  leftover: Leftover | undefined;
  /** All snapshots of the cluster; none if it has no snapshot CRDs. */
  contents: readonly VolumeSnapshotContent[];
  nodeNamed(name: string): KubeNode | undefined;
}

/** Returns the nodes that may write to the storage: an adoption requires their death. */
export function nodesToJudge(
  from: string,
  { volumes, leftover }: Pick<Claimants, 'volumes' | 'leftover'>,
): string[] {
  const earlier = volumes.find(({ metadata }) => metadata.uid === from);
  const left = leftover === undefined ? [] : [leftover.spec.nodeName];
  return [...new Set([...(earlier === undefined ? [] : writers(earlier)), ...left])];
}

/**
 * Returns the UIDs under which a node may record a snapshot: that of its content, or of the content
 * that it was taken for.
 */
export function snapshotUids({ metadata, spec, status }: VolumeSnapshotContent): string[] {
  const handles = [spec.source.snapshotHandle, status?.snapshotHandle].flatMap((text) => {
    const handle = text === undefined ? { problem: '' } : parseHandle(text);
    if ('problem' in handle) return [];
    return [handle.type === 'file' ? basename(handle.path) : snapshotUidOf(handle.name)];
  });
  return [...(metadata.uid === undefined ? [] : [metadata.uid]), ...handles];
}

/**
 * Returns why a Volume must not adopt the storage of another one; undefined if it may. It may if
 * that Volume is gone or each node that may write to the storage is dead, and no other Volume
 * adopts it.
 * @param volume may not be created yet
 * @param maxWaitMs time that a node may be NotReady before it counts as dead
 */
export function adoptionProblem(
  volume: Volume,
  from: string,
  claimants: Claimants,
  notReadyAge: NotReadyAge,
  maxWaitMs: number,
): Refused | undefined {
  const { volumes, leftover, contents, nodeNamed } = claimants;
  const content = contents.find((each) => snapshotUids(each).includes(from));
  if (content !== undefined) {
    return refuse('AdoptsSnapshot', { uid: from, content: content.metadata.name });
  }
  const rival = volumes.find(
    (other) => other.spec.adopt?.uid === from && goesBefore(other, volume),
  );
  if (rival !== undefined) {
    return refuse('AdoptedByAnother', { uid: from, volume: rival.metadata.name });
  }
  // The adopting node answers, even without a Node object.
  const lives = (name: string, owner: Pick<Volume, 'spec'>) =>
    name === volume.spec.nodeName
      ? [{ why: 'this Volume is on the same node', hint: 'Use that Volume instead' }]
      : stillLives(name, nodeNamed(name), owner, notReadyAge, maxWaitMs);
  const earlier = volumes.find(({ metadata }) => metadata.uid === from);
  const alive = earlier && writers(earlier).flatMap((name) => lives(name, earlier))[0];
  if (earlier !== undefined && alive !== undefined) {
    const { name } = earlier.metadata;
    return refuse('AdoptedVolumeAlive', {
      uid: from,
      volume: name,
      node: nodeOf(earlier),
      ...alive,
    });
  }
  if (earlier !== undefined && earlier.status?.prepared === undefined) {
    return refuse('AdoptedVolumeUnfinished', { uid: from, volume: earlier.metadata.name });
  }
  if (leftover === undefined) return undefined;
  const { nodeName } = leftover.spec;
  const there = lives(nodeName, { spec: leftover.spec })[0];
  return there && refuse('AdoptedLeftover', { uid: from, node: nodeName, why: there.why });
}

/** Returns all nodes that may have the Volume attached or run its jobs, regardless of its spec. */
function writers(volume: Volume): string[] {
  const { attachments = [], jobNode } = volume.status ?? {};
  const others = [
    ...attachments.map(({ node }) => node),
    ...(jobNode === undefined ? [] : [jobNode]),
  ];
  return [...new Set([...eligibleNodes(volume), ...others])];
}

function stillLives(
  name: string,
  node: KubeNode | undefined,
  volume: Pick<Volume, 'spec'>,
  notReadyAge: NotReadyAge,
  maxWaitMs: number,
): { why: string; hint: string }[] {
  const verdict = judgeNode(name, node, volume, node && notReadyAge(node), maxWaitMs);
  if ('alive' in verdict) return [{ why: verdict.alive, hint: verdict.hint }];
  return verdict.mayRun
    ? [
        {
          why: `${verdict.dead}, and the machine may still write to the directory that it shares with other nodes`,
          hint: `Once the machine is off, create a Node ${name} with the out-of-service taint`,
        },
      ]
    : [];
}

/**
 * Reports whether another Volume takes precedence: the first created, or one that has adopted
 * already.
 */
function goesBefore({ metadata, status }: Volume, volume: Volume): boolean {
  if (metadata.uid === volume.metadata.uid) return false;
  if (volume.metadata.uid === undefined || status?.prepared !== undefined) return true;
  return order({ metadata }) < order(volume);
}

const order = ({
  metadata: { creationTimestamp, uid },
}: KubeObject | Pick<Volume, 'metadata'>): string => `${creationTimestamp} ${uid}`;
