import { PAUSED_ANNOTATION, VOLUMES_ATTACHED_CONDITION } from '../../../api/names.ts';
import type { Attachment, Volume } from '../../../api/volume.ts';
import { nodeOf } from '../../../volumes/desired.ts';
import { pausedBy } from '../../../volumes/paused.ts';
import { foundIn } from '../../volume/reading.ts';
import { deletePods, heldOn } from '../attached.ts';
import { commandLine, letGo } from '../command-line.ts';
import { diagnose } from '../diagnose.ts';
import type { Holdup } from '../types.ts';
import type { PodKnown, PodVolume } from './known.ts';

const BY_ITSELF = { when: 'within seconds, where a daemon with the controller attachment runs' };

/** A volume of the pod that is not there on its node. `now` is in ms since the epoch. */
export function notThere(known: PodKnown, now: number): Holdup | undefined {
  for (const each of known.volumes) {
    const found = notBacked(each) ?? notAttached(known, each, now);
    if (found !== undefined) return found;
  }
  const condition = conditionOf(known);
  if (condition?.status !== 'False') return undefined;
  return {
    holdup: condition.message || 'its volumes are not attached',
    ...(condition.lastTransitionTime && { since: condition.lastTransitionTime }),
    next: BY_ITSELF,
  };
}

export const conditionOf = ({ pod }: PodKnown) =>
  pod.status?.conditions?.find(({ type }) => type === VOLUMES_ATTACHED_CONDITION);

/** Its claim is bound to what is gone, or is another's. */
function notBacked({ claimName, claim: read, pv, volume }: PodVolume): Holdup | undefined {
  const claim = foundIn(read);
  if (claim === undefined) return undefined;
  const { namespace = '', name } = claim.metadata;
  const fix = {
    say: 'See what is said of the claim.',
    run: [commandLine('kubectl', 'describe', 'pvc', name, '-n', namespace)],
  };
  if ('absent' in pv) {
    return { holdup: `the PersistentVolume ${claim.spec.volumeName} of its claim ${claimName} is gone`, fix };
  }
  if (volume === undefined) return undefined;
  const claimRef = foundIn(pv)?.spec.claimRef;
  if (claimRef?.uid !== undefined && claimRef.uid !== claim.metadata.uid) {
    return {
      holdup: `the PersistentVolume ${claim.spec.volumeName} is bound to another claim than its ${claimName}: ${claimRef.namespace}/${claimRef.name}`,
      fix,
    };
  }
  return 'absent' in volume ? { holdup: `the Volume of its claim ${claimName} is gone`, fix } : undefined;
}

function notAttached({ pod, node, ...more }: PodKnown, each: PodVolume, now: number): Holdup | undefined {
  const volume = each.volume && foundIn(each.volume);
  const { nodeName = '' } = pod.spec;
  if (volume === undefined) return undefined;
  const { name } = volume.metadata;
  const { attachments = [] } = volume.status ?? {};
  const entry = attachments.find((one) => one.node === nodeName);
  if (entry?.state === 'Attached' && entry.safeToMount) return undefined;
  const others = attachments.filter((one) => one.node !== nodeName);
  const diagnosis = each.known && diagnose(each.known, now);
  if (diagnosis !== undefined && 'holdup' in diagnosis) {
    return { ...diagnosis, holdup: `Volume ${name}: ${diagnosis.holdup}` };
  }
  const [holder] = others;
  const readOnly = entry?.readOnly || others.every((other) => other.readOnly);
  if (entry === undefined && holder !== undefined && !readOnly) return multiAttach(volume, nodeName, holder);
  const allowed = volume.spec.attachableNodes ?? [nodeOf(volume)];
  if (!allowed.includes(nodeName)) return wrongNode(volume, nodeName, allowed);
  const paused = pausedBy(volume, foundIn(node));
  if (paused !== undefined) {
    const [kind = '', object = ''] = paused.split(' ');
    return {
      holdup: `Volume ${name} is not attached to node ${nodeName}: ${paused} has the annotation ${PAUSED_ANNOTATION}`,
      next: { when: 'when the annotation is taken off' },
      fix: {
        say: 'Take the annotation off when the reason for it is gone.',
        run: [commandLine('kubectl', 'annotate', kind.toLowerCase(), object, `${PAUSED_ANNOTATION}-`)],
      },
    };
  }
  if (entry !== undefined) {
    const held = heldOn(volume, entry);
    const mount = entry.state === 'Attached' ? ', but its persistent path is not there yet' : '';
    return { ...held, holdup: `Volume ${name}: ${held.holdup}${mount}` };
  }
  const condition = conditionOf({ pod, node, ...more });
  const said = condition?.status === 'False' && condition.message ? `: ${condition.message}` : '';
  const since = condition?.status === 'False' ? condition.lastTransitionTime : undefined;
  return {
    holdup: `Volume ${name} is not attached to node ${nodeName} yet${said}`,
    ...(since && { since }),
    next: BY_ITSELF,
    fix: { say: 'See that the daemon runs, and what it logs about this Volume.', run: ['stowage watch'] },
  };
}

function multiAttach(volume: Volume, nodeName: string, holder: Attachment): Holdup {
  const { node, state, pods = [], since, message } = holder;
  const needed = pods.length === 0 ? '' : `, where these pods need it: ${pods.join(', ')}`;
  return {
    holdup: `Volume ${volume.metadata.name} cannot be attached to node ${nodeName}: it is ${state} on node ${node}${needed}${message ? ` (${message})` : ''}, and it can be on one node at a time`,
    since,
    next: {
      when: `once it is detached from node ${node}, which follows by itself when no pod needs it there`,
    },
    fix: {
      say: `End what uses it there, by scaling down what made it. If node ${node} is dead, switch it off, and have it let go of:`,
      run: [...deletePods(pods), letGo(volume, node)],
    },
  };
}

function wrongNode({ metadata: { name } }: Volume, nodeName: string, allowed: readonly string[]): Holdup {
  return {
    holdup: `Volume ${name} can be attached to ${allowed.length === 1 ? 'node' : 'one of the nodes'} ${allowed.join(', ')}, and the pod is on node ${nodeName}`,
    next: { when: 'when the pod is on such a node' },
    fix: {
      say: 'Have the pod scheduled anew, without a spec.nodeName of its own: the PersistentVolume tells the scheduler which nodes can be.',
    },
  };
}
