import type { Command } from 'commander';
import { StowageError } from '../../../api/errors.ts';
import { VOLUME_API_VERSION } from '../../../api/names.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { readAdoptionProblem } from '../../../controllers/volume/claimants.ts';
import { listAll } from '../../../kube/client.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { notReadyAgeBy } from '../../../model/node-health.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import type { Io } from '../../lib/io.ts';
import { readMaxWait } from '../../lib/leaders.ts';
import { withNodes } from '../../lib/nodes/with-nodes.ts';
import { checkObjects, createObjects } from '../../lib/objects/create.ts';
import { refused, type VolumePlan } from '../../lib/plan/plan.ts';
import { isInteractive } from '../../lib/prompts/interactive.ts';
import { sameCommand } from '../../lib/wizard/same-command.ts';
import { confirmSummary, showSummary } from '../../lib/wizard/summary.ts';
import { volumeProblem } from '../check.ts';
import { plansOf, printPlans } from '../print-plan.ts';
import { refuse } from '../refuse-problems.ts';
import { labelsText } from '../summary.ts';
import { type Found, find } from './find.ts';
import type { AdoptFlags } from './flags.ts';
import { complete, type Given } from './wizard.ts';

/**
 * Runs `stowage adopt volume`: observes the storage, and creates the Volume that adopts it, as its
 * manifest alone would. Throws a StowageError: `conflict` if the storage may be another Volume's,
 * or if the node would refuse it.
 */
export async function adopt(
  given: Given,
  command: Command,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  const nodeFlags = () => Promise.resolve(given);
  const { answers: flags } = await complete(given, command, { io, connect, nodeFlags });
  const client = await connect();
  const { name, node = '', type = 'raw' } = flags;
  const { items: known } = await listAll<Volume>(client, VOLUMES, { signal: io.signal });
  const found = await withNodes([node], flags, io, client, (executor) =>
    find(type, flags, (probes) => executor.observe(node, probes), known),
  );
  const volume = adopting(name, flags, found);
  refuse([volumeProblem(volume)].filter((problem) => problem !== undefined));
  const { signal } = io;
  const maxWait = await readMaxWait(client, signal);
  const age = notReadyAgeBy(client);
  const problem = await readAdoptionProblem(volume, client, age, maxWait, { signal });
  if (problem !== undefined) throw refused(name, problem);
  const { dryRun } = flags;
  if (dryRun === 'plan') return printPlans([volume], flags, io, client);
  if (dryRun === 'none') {
    // Reports a name in use before the node plans the adoption.
    await checkObjects([volume], io, client);
    showSummary(await summaryOf(volume, found, flags, io, client), io);
    if (isInteractive(io) && !flags.yes) await confirmSummary('Adopt it?', io);
  }
  await createObjects([volume], { ...flags, dryRun }, io, connect);
}

/** Returns the Volume; its manifest alone does the same. */
function adopting(name: string, flags: AdoptFlags, { uid, mode, storage }: Found): Volume {
  const { labels, onDelete, node = '', storageClass = '' } = flags;
  return {
    apiVersion: VOLUME_API_VERSION,
    kind: 'Volume',
    metadata: { name, ...(labels && { labels }) },
    spec: {
      nodeName: node,
      storageClassName: storageClass,
      mode,
      ...(labels && { template: { metadata: { labels } } }),
      ...storage,
      adopt: { uid },
      ...(onDelete && { onDelete }),
    },
  };
}

async function summaryOf(
  volume: Volume,
  { uid, mode }: Found,
  flags: AdoptFlags & GlobalFlags,
  io: Io,
  client: KubeClient,
) {
  const { name } = volume.metadata;
  const { nodeName, storageClassName } = volume.spec;
  const {
    results: [result],
  } = await plansOf([volume], flags, io, client);
  if (result?.status === 'rejected') throw result.reason;
  const steps = stepsOf(result?.value, name);
  return {
    sections: [
      [
        'Storage to adopt',
        `Volume ${name} on ${nodeName}: the storage with the UID ${uid}, of mode ${mode} and storage class ${storageClassName}. Its data stays.`,
      ],
      ['Steps on the node', steps.map((step) => `  ${step}`).join('\n')],
    ] as const,
    command: sameCommand(
      ['adopt', 'volume', name],
      {
        '--node': flags.node,
        '--device': flags.device,
        '--directory': flags.directory,
        '--file': flags.file,
        '--vg': flags.vg,
        '--lv': flags.lv,
        '--storage-class': storageClassName,
        '--mode': mode,
        '--labels': labelsText(flags.labels),
        '--on-delete': flags.onDelete,
        '--yes': true,
      },
      flags,
    ),
  };
}

function stepsOf(plan: VolumePlan | undefined, name: string): string[] {
  if (plan === undefined) throw new StowageError('failed', `Volume ${name} has no plan`);
  if ('refusal' in plan) throw refused(name, plan);
  return plan.steps.map((step) => step.name);
}
