import type { PersistentVolume } from '../../../api/core.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { withPathOf } from '../../../controllers/volume/persistent-volume.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { desiredOf } from '../../../model/desired-volume.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import type { Step } from '../../../nodes/job.ts';
import { stepJson } from '../../../nodes/step-json.ts';
import { deviceOf } from '../../../storage/device.ts';
import { freeLoopNumber } from '../../../storage/loops.ts';
import { observe } from '../../../storage/observe.ts';
import { plan } from '../../../storage/plan.ts';
import type { Desired, Observed } from '../../../storage/registry.ts';
import type { Refusal } from '../../../storage/types.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import type { Io } from '../../lib/io.ts';
import type { NodeFlags } from '../../lib/nodes/flags.ts';
import { withNodes } from '../../lib/nodes/with-nodes.ts';
import { asJson, asYaml } from '../../lib/output/data.ts';
import { printable } from '../../lib/output/printable.ts';
import { refused } from '../../lib/plan/plan.ts';
import { comment, planText } from '../../lib/plan/text.ts';
import { readableVolumes } from '../print-plan.ts';
import { findRoomNotes, printNotes } from '../room-note.ts';

/** Steps of an expansion on the node, or why there would be none. */
export type ExpansionPlan = { steps: readonly Step[]; note?: string } | Refusal;

/** Plans an expansion as the controller would, from the observed state of the node. Pure. */
export function planExpansion(desired: Desired, observed: Observed): ExpansionPlan {
  const made = plan('attach', desired, observed, freeLoopNumber(observed.loops, new Set()));
  const isDetached = deviceOf(desired, observed).device === undefined;
  // A transient refusal only prevents the attach.
  if ('refusal' in made && !(isDetached && made.retryable)) return made;
  if ('refusal' in made || isDetached)
    return { steps: [], note: 'the device is not attached, and is expanded once it is' };
  const { steps, grows = false, notes = [], reason } = made;
  if (grows) return { steps };
  const [note] = notes;
  if (reason !== undefined && note !== undefined)
    return { refusal: note, hint: 'Choose a smaller size, or remove the obstacle.', reason };
  return {
    steps: [],
    note:
      steps.length > 0
        ? 'the device is attached again first, and then expanded'
        : 'the device has this size already',
  };
}

/** Plan of an expansion, and notes about places that it promises beyond their space. */
interface ObservedPlan {
  planned: ExpansionPlan;
  notes: string[];
}

const NOT_PROVISIONED: ObservedPlan = {
  planned: { steps: [], note: 'the Volume is not provisioned yet, and gets the size when it is' },
  notes: [],
};

/**
 * Runs `resize volume --dry-run=plan`: prints what would be done on the node for a Volume with the
 * new size, and changes nothing. Throws a StowageError `conflict` if the plan is refused, NodeError
 * if the node cannot be observed.
 */
export async function printExpansion(
  volume: Volume,
  pv: PersistentVolume | undefined,
  flags: NodeFlags & GlobalFlags & { output?: 'json' | 'yaml' | 'name' },
  io: Io,
  client: KubeClient,
): Promise<void> {
  const { name, uid } = volume.metadata;
  const node = nodeOf(volume);
  const isProvisioned = volume.status?.prepared !== undefined || pv !== undefined;
  const { planned, notes } = isProvisioned
    ? await observedPlan(volume, pv, flags, io, client)
    : NOT_PROVISIONED;
  if ('refusal' in planned) throw refused(name, planned);
  const { steps, note } = planned;
  const data = { volume: name, node, uid, steps: steps.map(stepJson) };
  if (flags.output === undefined) {
    const heading = comment(`${VOLUMES.kind} ${name} on node ${node}`);
    io.stdout.write(`${printable(heading)}\n${planText(steps, flags.verbose ?? false)}`);
  } else io.stdout.write(flags.output === 'json' ? asJson(data) : asYaml(data));
  printNotes([...(note === undefined ? [] : [note]), ...notes], io);
}

async function observedPlan(
  volume: Volume,
  pv: PersistentVolume | undefined,
  flags: NodeFlags,
  io: Io,
  client: KubeClient,
): Promise<ObservedPlan> {
  const node = nodeOf(volume);
  const known = await readableVolumes(client, io.signal);
  return withNodes([node], flags, io, client, async (executor) => {
    const desired = desiredOf(withPathOf(pv, volume), undefined, node);
    const observed = await observe((probes) => executor.observe(node, probes), desired);
    return {
      planned: planExpansion(desired, observed),
      notes: await findRoomNotes([volume], known, executor),
    };
  });
}
