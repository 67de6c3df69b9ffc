import type { Command } from 'commander';
import type { Volume } from '../../api/volume.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Io } from '../lib/io.ts';
import type { NodeFlags } from '../lib/nodes/flags.ts';
import { checkObjects, createObjects } from '../lib/objects/create.ts';
import type { CreateFlags } from '../lib/objects/flags.ts';
import { confirm } from '../lib/prompts/confirm.ts';
import { confirmSummary, showSummary } from '../lib/wizard/summary.ts';
import { volumeProblem } from './check.ts';
import { lostByCreation } from './data-loss.ts';
import { volumesOf } from './manifest.ts';
import { printPlans } from './print-plan.ts';
import { refuse } from './refuse-problems.ts';
import { summaryOf } from './summary.ts';
import { complete, type Given } from './wizard.ts';

/**
 * Runs `stowage create volume`. Calls `connect` only if a cluster is needed, and `nodeFlags` only
 * if nodes are observed. Throws a StowageError.
 */
export async function create(
  given: Given,
  command: Command,
  io: Io,
  connect: () => Promise<KubeClient>,
  nodeFlags: () => Promise<NodeFlags>,
): Promise<void> {
  const { answers, asked } = await complete(given, command, { io, connect, nodeFlags });
  const volumes = volumesOf(answers.name, answers);
  refuse(volumes.map(volumeProblem).filter((problem) => problem !== undefined));
  const { dryRun } = given;
  if (dryRun === 'plan') return printPlans(volumes, given, io, await connect());
  const flags = { ...given, dryRun };
  if (asked && dryRun === 'none') {
    const client = await connect();
    // Reports a name in use before nodes plan the creation.
    await checkObjects(volumes, io, client);
    showSummary(await summaryOf(volumes, answers, await nodeFlags(), io, client), io);
    await agreeTo(volumes, flags, io);
  } else await confirmOverwriting(volumes, flags, io);
  await createObjects(volumes, flags, io, connect);
}

/** Requests confirmation: of overwriting if a Volume does so, else of the creation. */
async function agreeTo(
  volumes: readonly Volume[],
  flags: CreateFlags & { yes?: boolean },
  io: Io,
): Promise<void> {
  if (volumes.some((volume) => lostByCreation(volume) !== undefined))
    return confirmOverwriting(volumes, flags, io);
  if (!flags.yes) await confirmSummary(volumes.length > 1 ? 'Create them?' : 'Create it?', io);
}

/** Requests confirmation of overwriting, except in a dry run. */
export async function confirmOverwriting(
  volumes: readonly Volume[],
  flags: CreateFlags & { yes?: boolean },
  io: Io,
): Promise<void> {
  if (flags.dryRun !== 'none') return;
  const losses = volumes.map(lostByCreation).filter((loss) => loss !== undefined);
  await confirm(io, { losses, question: 'Create, and overwrite this data?' }, flags);
}
