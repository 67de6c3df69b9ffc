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
  const results = await plansOf(volumes, flags, io, client);
  const plans = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const several = volumes.length > 1;
  const items = plans.map(planJson);
  const data = several ? { items } : items[0];
  if (flags.output === undefined)
    io.stdout.write(plans.map((plan) => textOf(plan, flags, several)).join('\n'));
  else if (data !== undefined)
    io.stdout.write(flags.output === 'json' ? asJson(data) : asYaml(data));
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

/** Returns the plan of each Volume, or why it is unknown. Throws for a missing storage class. */
export async function plansOf(
  volumes: readonly Volume[],
  flags: NodeFlags,
  io: Io,
  client: KubeClient,
): Promise<PromiseSettledResult<VolumePlan>[]> {
  // The Volumes of a command have the same class.
  const className = volumes[0]?.spec.storageClassName ?? '';
  const storageClass = await client.get<StorageClass>(STORAGE_CLASSES, className, {
    signal: io.signal,
  });
  // A device may be another Volume's, without a record on its node.
  const onDevices = volumes.some(({ spec }) => driverOfSpec(spec).overwrites);
  const known = onDevices
    ? (await listAll<Volume>(client, VOLUMES, { signal: io.signal })).items
    : [];
  const nodes = volumes.map(({ spec }) => spec.nodeName);
  return withNodes(nodes, flags, io, client, (executor) =>
    Promise.allSettled(volumes.map((volume) => planVolume(volume, storageClass, executor, known))),
  );
}

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
