import type { StorageClass } from '../../api/core.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { stepJson } from '../../nodes/step-json.ts';
import { driverOfSpec } from '../../storage/registry.ts';
import { about, conclude } from '../lib/batch.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import type { NodeFlags } from '../lib/nodes/flags.ts';
import { withNodes } from '../lib/nodes/with-nodes.ts';
import { asJson, asYaml } from '../lib/output/data.ts';
import { printable } from '../lib/output/printable.ts';
import { PLACEHOLDER_UID, planVolume, refused, type VolumePlan } from '../lib/plan/plan.ts';
import { comment, planText } from '../lib/plan/text.ts';
import { foundIn, reading } from '../lib/read-result.ts';
import { findRoomNotes, placesOf, printNotes } from './room-note.ts';

interface PlanFlags extends NodeFlags, GlobalFlags {
  output?: 'json' | 'yaml' | 'name';
}

/**
 * Runs `create volume --dry-run=plan`: prints what would be done on the nodes, and creates nothing.
 * Throws a StowageError `conflict` if a plan is refused, NodeError if a node cannot be observed.
 */
export async function printPlans(
  volumes: readonly Volume[],
  flags: PlanFlags,
  io: Io,
  client: KubeClient,
): Promise<void> {
  const { results, notes } = await plansOf(volumes, flags, io, client);
  const plans = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const several = volumes.length > 1;
  const items = plans.map(planJson);
  const data = several ? { items } : items[0];
  if (flags.output === undefined)
    io.stdout.write(plans.map((plan) => textOf(plan, flags, several)).join('\n'));
  else if (data !== undefined)
    io.stdout.write(flags.output === 'json' ? asJson(data) : asYaml(data));
  printNotes(notes, io);
  const errors = results.flatMap((result, index) =>
    result.status === 'rejected'
      ? [about(result.reason, { kind: VOLUMES.kind, name: volumes[index]?.metadata.name ?? '' })]
      : 'refusal' in result.value
        ? [refused(result.value.volume, result.value)]
        : [],
  );
  conclude(errors, volumes.length, io);
}

const planJson = (plan: VolumePlan) =>
  'steps' in plan ? { ...plan, steps: plan.steps.map(stepJson) } : plan;

/** Plans of Volumes, and notes about places that are promised beyond their space. */
interface Plans {
  /** Plan of each Volume, or why it is unknown. */
  results: PromiseSettledResult<VolumePlan>[];
  notes: string[];
}

/** Returns the plans of Volumes. Throws for a missing storage class. */
export async function plansOf(
  volumes: readonly Volume[],
  flags: NodeFlags,
  io: Io,
  client: KubeClient,
): Promise<Plans> {
  // The Volumes of a command have the same class.
  const className = volumes[0]?.spec.storageClassName ?? '';
  const storageClass = await client.get<StorageClass>(STORAGE_CLASSES, className, {
    signal: io.signal,
  });
  // A device may be another Volume's, without a record on its node.
  const onDevices = volumes.some(({ spec }) => driverOfSpec(spec).overwrites);
  const known = onDevices
    ? (await listAll<Volume>(client, VOLUMES, { signal: io.signal })).items
    : placesOf(volumes).length > 0
      ? await readableVolumes(client, io.signal)
      : [];
  const nodes = volumes.map(({ spec }) => spec.nodeName);
  return withNodes(nodes, flags, io, client, async (executor) => {
    const results = await Promise.allSettled(
      volumes.map((volume) => planVolume(volume, storageClass, executor, known)),
    );
    const planned = volumes.filter((_, index) => {
      const result = results[index];
      return result?.status === 'fulfilled' && 'steps' in result.value;
    });
    return { results, notes: await findRoomNotes(planned, known, executor) };
  });
}

/** Returns the Volumes of the cluster; none without the right to list them. */
export const readableVolumes = async (client: KubeClient, signal: AbortSignal): Promise<Volume[]> =>
  foundIn(await reading(listAll<Volume>(client, VOLUMES, { signal })))?.items ?? [];

/**
 * Returns the text of a plan. Refusals are reported with the other errors; among several plans they
 * are printed here, too.
 */
function textOf(plan: VolumePlan, { verbose = false }: GlobalFlags, several: boolean): string {
  const heading = `${comment(`Volume ${plan.volume} on node ${plan.node}`)}\n`;
  if ('refusal' in plan)
    return several ? `${heading}${printable(comment(`refused: ${plan.refusal}`))}\n` : '';
  const uid = comment(`${PLACEHOLDER_UID} is a placeholder for the UID of the Volume.`);
  return `${heading}${uid}\n${planText(plan.steps, verbose)}`;
}
