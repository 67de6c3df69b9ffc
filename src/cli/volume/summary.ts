import type { Volume } from '../../api/volume.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { driverOfSpec } from '../../storage/registry.ts';
import { about, conclude } from '../lib/batch.ts';
import { messageOf } from '../lib/failure.ts';
import type { Io } from '../lib/io.ts';
import type { NodeFlags } from '../lib/nodes/flags.ts';
import type { Nodes } from '../lib/nodes/node-pattern.ts';
import { refused } from '../lib/plan/plan.ts';
import { type SameFlags, sameCommand } from '../lib/wizard/same-command.ts';
import type { Summary } from '../lib/wizard/summary.ts';
import type { VolumeFlags } from './manifest.ts';
import { plansOf } from './print-plan.ts';

/**
 * Returns what would be created, what would run on the nodes for it, and the equivalent command.
 * Throws a StowageError `conflict` if a node would refuse it; nothing may be sent then.
 */
export async function summaryOf(
  volumes: readonly Volume[],
  flags: VolumeFlags & SameFlags & { name: string },
  nodeFlags: NodeFlags,
  io: Io,
  client: KubeClient,
): Promise<Summary> {
  io.stderr.write(`Planning the steps on the nodes …\n`);
  const { steps, notes } = await planned(volumes, nodeFlags, io, client);
  return {
    sections: [
      ['Volumes to create', volumes.map(described).join('\n')],
      ['Steps on the nodes', steps],
      ...(notes.length === 0 ? [] : [['Notes', notes.join('\n')] as const]),
    ],
    command: sameCommand(['create', 'volume', flags.name], optionsOf(flags), flags),
  };
}

function described({ metadata, spec }: Volume): string {
  const destroyed = spec.overwrite === undefined ? '' : `, overwriting ${spec.overwrite}`;
  const attached = spec.attachPolicy === 'OnDemand' ? ', attached only while a pod needs it' : '';
  return `Volume ${metadata.name} on ${spec.nodeName}: ${driverOfSpec(spec).summarize(spec)}${destroyed}, of storage class ${spec.storageClassName}${attached}`;
}

async function planned(
  volumes: readonly Volume[],
  flags: NodeFlags,
  io: Io,
  client: KubeClient,
): Promise<{ steps: string; notes: readonly string[] }> {
  let plans: Awaited<ReturnType<typeof plansOf>>;
  try {
    plans = await plansOf(volumes, flags, io, client);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const steps =
      'not known: the storage class does not exist yet, and nothing is provisioned until it does';
    return { steps, notes: [] };
  }
  const { results, notes } = plans;
  const refusals = results.flatMap((result, index) => {
    if (result.status === 'rejected' || !('refusal' in result.value)) return [];
    const object = { kind: 'Volume', name: volumes[index]?.metadata.name ?? '' };
    return [about(refused(result.value.volume, result.value), object)];
  });
  conclude(refusals, volumes.length, io);
  const steps = results
    .map((result, index) => {
      const node = volumes[index]?.spec.nodeName ?? '';
      if (result.status === 'rejected') return `on ${node}: not known: ${messageOf(result.reason)}`;
      const there = 'steps' in result.value ? result.value.steps : [];
      return [`on ${node}:`, ...there.map((step) => `  ${step.name}`)].join('\n');
    })
    .join('\n');
  return { steps, notes };
}

const optionsOf = (flags: VolumeFlags) => ({
  '--node': flags.node && patternOf(flags.node),
  '--type': flags.type,
  '--size': flags.size,
  '--directory': flags.directory,
  '--require-mount': flags.requireMount,
  '--device': flags.device,
  '--vg': flags.vg,
  '--thin-pool': flags.thinPool,
  '--overwrite': flags.overwrite,
  // Overwriting would require confirmation.
  '--yes': flags.overwrite !== undefined,
  '--storage-class': flags.storageClass,
  '--mode': flags.mode,
  '--labels': labelsText(flags.labels),
  '--on-delete': flags.onDelete,
  '--attach-policy': flags.attachPolicy,
});

/** Returns labels in the form of the flag. */
export const labelsText = (
  labels: Readonly<Record<string, string>> | undefined,
): string | undefined =>
  labels &&
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** Returns node names. A pattern for one node stays a pattern: the Volume is named after it. */
const patternOf = ({ names, many }: Nodes): string =>
  many && names.length === 1 ? `{${names[0]},${names[0]}}` : names.join(',');
