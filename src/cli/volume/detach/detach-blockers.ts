import type { KubeNode } from '../../../api/core.ts';
import { isPaused } from '../../../api/paused.ts';
import type { Attachment, Volume } from '../../../api/volume.ts';
import { resumeCommand } from '../../../model/pause.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import { forceDetachCommand, patchSpec } from '../../lib/command-line.ts';

export interface Held {
  why: string;
  hint: string;
}

/** Returns what keeps a Volume attached to a node, and the remedy; undefined if nothing does. */
export function heldBy(
  volume: Volume,
  { node, pods = [] }: Attachment,
  kubeNode: KubeNode | undefined,
): Held | undefined {
  const { deletionTimestamp } = volume.metadata;
  const paused = [volume, kubeNode].find(isPaused);
  if (paused !== undefined) {
    const { name } = paused.metadata;
    const resume = resumeCommand(paused === volume ? 'volume' : 'node', name);
    return {
      why: `${paused.kind} ${name} is paused, so nothing is detached`,
      hint: `End the pause once its reason is gone: ${resume}`,
    };
  }
  if (pods.length > 0) {
    return {
      why: `${pods.length === 1 ? 'this pod needs' : 'these pods need'} it there: ${pods.join(', ')}`,
      hint: `Scale down the workload: the Volume is detached when these pods end. If node ${node} is dead and switched off: ${forceDetachCommand(volume, node)}`,
    };
  }
  const policy = volume.spec.attachPolicy ?? 'Always';
  if (policy === 'Always' && node === nodeOf(volume) && deletionTimestamp === undefined) {
    return {
      why: `its attachPolicy is Always: it would be attached to ${node} again`,
      hint: `Attach it only while a pod needs it, and it is detached automatically: ${patchSpec(volume, { attachPolicy: 'OnDemand' })}`,
    };
  }
  return undefined;
}
