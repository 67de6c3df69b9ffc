import type { KubeNode, PersistentVolume } from '../../../api/core.ts';
import { EVENT, HOSTNAME_LABEL, VOLUMES_ATTACHED_CONDITION } from '../../../api/names.ts';
import { isPaused } from '../../../api/paused.ts';
import { type ReasonCode, reasonOfAnnotations } from '../../../api/reasons.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { hostnameLabelOf } from '../../../model/hostname-label.ts';
import { resumeCommand } from '../../../model/pause.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import { commandLine } from '../../lib/command-line.ts';
import { isOwn } from '../../lib/objects/events.ts';
import { foundIn } from '../../lib/read-result.ts';
import { heldOn } from '../attached.ts';
import { diagnose } from '../diagnose.ts';
import { CHANGE_LABEL, selectedHostnames } from '../placement.ts';
import { type Blocker, type Link, through } from '../types.ts';
import { claimLink } from './claims.ts';
import type { PodFacts, PodVolume } from './facts.ts';
import { multiAttach } from './multi-attach.ts';

const BY_ITSELF = { when: 'within seconds, if a daemon with the controller attachment runs' };

/** Returns the blocker of a volume missing on the pod's node. `now` is in ms since the epoch. */
export function notThere(known: PodFacts, now: number): Blocker | undefined {
  for (const each of known.volumes) {
    const found = notBacked(each) ?? notAttached(known, each, now);
    if (found !== undefined)
      return linksOf(each).reduceRight((inner, link) => through(link, inner), found);
  }
  const condition = conditionOf(known);
  if (condition?.status !== 'False') return undefined;
  return {
    cause: 'NotAttached',
    holdup: condition.message || 'its volumes are not attached',
    ...(condition.lastTransitionTime && { since: condition.lastTransitionTime }),
    next: BY_ITSELF,
  };
}

/** Returns the links from the pod to the Volume. */
function linksOf({ claim: read, volume: readVolume }: PodVolume): Link[] {
  const claim = foundIn(read);
  const volume = readVolume && foundIn(readVolume);
  return [
    ...(claim === undefined ? [] : [claimLink(claim)]),
    ...(volume === undefined ? [] : [{ kind: 'Volume', name: volume.metadata.name }]),
  ];
}

export const conditionOf = ({ pod }: PodFacts) =>
  pod.status?.conditions?.find(({ type }) => type === VOLUMES_ATTACHED_CONDITION);

/** Reports a claim whose volume is gone, or bound to another claim. */
function notBacked({ claimName, claim: read, pv, volume }: PodVolume): Blocker | undefined {
  const claim = foundIn(read);
  if (claim === undefined) return undefined;
  const { namespace = '', name } = claim.metadata;
  const fix = {
    say: 'Check the events of the claim.',
    run: [commandLine('kubectl', 'describe', 'pvc', name, '-n', namespace)],
  };
  if ('absent' in pv) {
    return {
      cause: 'ClaimLost',
      holdup: `the PersistentVolume ${claim.spec.volumeName} of its claim ${claimName} is gone`,
      fix,
    };
  }
  if (volume === undefined) return undefined;
  const claimRef = foundIn(pv)?.spec.claimRef;
  if (claimRef?.uid !== undefined && claimRef.uid !== claim.metadata.uid) {
    return {
      cause: 'ClaimLost',
      holdup: `the PersistentVolume ${claim.spec.volumeName} of its claim ${claimName} is bound to another claim: ${claimRef.namespace}/${claimRef.name}`,
      fix,
    };
  }
  return 'absent' in volume
    ? { cause: 'VolumeMissing', holdup: `the Volume of its claim ${claimName} is gone`, fix }
    : undefined;
}

function notAttached(known: PodFacts, each: PodVolume, now: number): Blocker | undefined {
  const { pod, node } = known;
  const volume = each.volume && foundIn(each.volume);
  const { nodeName = '' } = pod.spec;
  if (volume === undefined) return undefined;
  const { name } = volume.metadata;
  const { attachments = [] } = volume.status ?? {};
  const entry = attachments.find((one) => one.node === nodeName);
  if (entry?.state === 'Attached' && entry.safeToMount) return undefined;
  const others = attachments.filter((one) => one.node !== nodeName);
  const [holder] = others;
  const readOnly = entry?.readOnly || others.every((other) => other.readOnly);
  const elsewhere = entry === undefined && !readOnly ? holder : undefined;
  const allowed = volume.spec.attachableNodes ?? [nodeOf(volume)];
  // Removal of other blockers would not bring the volume to this node.
  if (!allowed.includes(nodeName))
    return wrongNode(volume, nodeName, allowed, isSelected(foundIn(node), foundIn(each.pv)));
  // The daemon's event on the pod comes first: the Volume may be Unknown like the other node.
  if (elsewhere !== undefined && reportsHolder(known, name)) {
    return multiAttach(volume, nodeName, elsewhere, each.holder);
  }
  const diagnosis = each.known && diagnose(each.known, now);
  if (diagnosis !== undefined && 'holdup' in diagnosis) {
    return { ...diagnosis, holdup: `Volume ${name}: ${diagnosis.holdup}` };
  }
  if (elsewhere !== undefined) return multiAttach(volume, nodeName, elsewhere, each.holder);
  const paused = [volume, foundIn(node)].find(isPaused);
  if (paused !== undefined) {
    const { kind, metadata } = paused;
    return {
      cause: 'Paused',
      holdup: `Volume ${name} is not attached to node ${nodeName}: ${kind} ${metadata.name} is paused`,
      next: { when: 'when it is resumed' },
      fix: {
        say: 'End the pause once its reason is gone.',
        run: [resumeCommand(kind === VOLUMES.kind ? 'volume' : 'node', metadata.name)],
      },
    };
  }
  if (entry !== undefined) {
    const held = heldOn(each.known ?? { volume, node, storageClass: { absent: true } }, entry);
    const mount = entry.state === 'Attached' ? ', but its persistent path does not exist yet' : '';
    return { ...held, holdup: `Volume ${name}: ${held.holdup}${mount}` };
  }
  const condition = conditionOf(known);
  const { message, lastTransitionTime: since } = condition?.status === 'False' ? condition : {};
  const suffix = message ? `: ${message}` : '';
  return {
    cause: 'NotAttached',
    holdup: `Volume ${name} is not attached to node ${nodeName} yet${suffix}`,
    ...(since && { since }),
    next: BY_ITSELF,
    fix: {
      say: 'Start the daemon if it is not running, else check its log for this Volume.',
      run: ['stowage watch'],
    },
  };
}

const OF_HOLDER: ReadonlySet<string> = new Set<ReasonCode>([
  'MultiAttach',
  'MultiAttachNodeAway',
  'MultiAttachNodeNotReady',
  'MultiAttachPaused',
  'MultiAttachUncertain',
]);

/**
 * Reports whether the daemon's last event about a volume states that another node has it. Users who
 * may create events can forge that: it only decides which of two facts, shown by other objects,
 * comes first.
 */
function reportsHolder({ events }: PodFacts, volume: string): boolean {
  const reasons = (foundIn(events) ?? [])
    .filter((event) => isOwn(event) && event.reason === EVENT.failedAttachVolume)
    .map(({ metadata }) => reasonOfAnnotations(metadata.annotations))
    .filter((reason) => reason?.parameters.volume === volume);
  return OF_HOLDER.has(reasons.at(-1)?.code ?? '');
}

/** Reports whether a PersistentVolume leads pods to the node, by a label that others share. */
const isSelected = (node: KubeNode | undefined, pv: PersistentVolume | undefined): boolean =>
  node !== undefined && pv !== undefined && selectedHostnames(pv).includes(hostnameLabelOf(node));

function wrongNode(
  { metadata: { name } }: Volume,
  nodeName: string,
  allowed: readonly string[],
  isSelected: boolean,
): Blocker {
  const nodes = `${allowed.length === 1 ? 'node' : 'one of the nodes'} ${allowed.join(', ')}`;
  const holdup = `Volume ${name} can be attached to ${nodes}, but the pod is on node ${nodeName}`;
  const next = { when: 'when the pod is on such a node' };
  // Only the label leads pods there: created again, the pod could be placed there again.
  return isSelected
    ? {
        cause: 'WrongNode',
        holdup: `${holdup}, which has the label ${HOSTNAME_LABEL} that the PersistentVolume selects`,
        next,
        fix: {
          say: `Correct the label of node ${nodeName} ${CHANGE_LABEL}. Then create the pod again.`,
        },
      }
    : {
        cause: 'WrongNode',
        holdup,
        next,
        fix: {
          say: 'Create the pod again without spec.nodeName: the scheduler then selects a node that the PersistentVolume allows.',
        },
      };
}
