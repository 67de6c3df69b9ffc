import { StowageError } from '../../../api/errors.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { Executor } from '../../../nodes/job.ts';
import { about, conclude } from '../../lib/batch.ts';
import { OWN_COMPONENTS } from '../../lib/components.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import type { Io } from '../../lib/io.ts';
import type { NodeFlags } from '../../lib/nodes/flags.ts';
import { withNodes } from '../../lib/nodes/with-nodes.ts';
import { printable } from '../../lib/output/printable.ts';
import { type InstallFlags, install, settledValues } from '../install.ts';
import { installedOf } from '../installed-objects.ts';
import { boundNamespaces, daemonsAmong } from '../move.ts';
import { NAMESPACE } from '../objects.ts';
import {
  checkStopped,
  findOperators,
  isWanted,
  startOf,
  stopOperators,
  titleOfOperator,
} from './operator.ts';
import { recordVolume } from './record-volume.ts';
import { refusedVolume } from './refused.ts';
import { type Cluster, eachOf, readVolumes, survey } from './survey.ts';
import { takeOverText, what } from './text.ts';

export interface TakeOverFlags extends Omit<InstallFlags, 'namespace'>, NodeFlags, GlobalFlags {}

/**
 * Runs `stowage install --take-over-metalk8s`. Changes nothing if a Volume is refused or is not
 * recognized on its node. Otherwise stops MetalK8s's operator, upgrades the definitions, records
 * each Volume as Stowage's, and installs the rest. Writes no byte to devices. A repeated run
 * continues where the last one stopped. Throws refusals and failures.
 */
export async function takeOverMetalk8s(
  flags: TakeOverFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  try {
    await takeAll(flags, io, connect);
  } catch (error) {
    await noteRestart(io, connect);
    throw error;
  }
}

/** Prints how to restart the operator after an incomplete take-over, for users who need it. */
async function noteRestart(io: Io, connect: () => Promise<KubeClient>): Promise<void> {
  const stopped = await connect()
    .then((client) => findOperators(client, io.signal))
    // The earlier error is reported, and explains this one as well.
    .catch(() => []);
  for (const start of stopped.map(startOf)) {
    if (start === undefined) continue;
    const note = `note: MetalK8s's operator is stopped. If a Volume waits for it, start it again: ${start}`;
    io.stderr.write(`${printable(note)}\n`);
  }
}

async function takeAll(
  flags: TakeOverFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  const { components = OWN_COMPONENTS, dryRun } = flags;
  if (!components.includes('crds')) {
    throw new StowageError('usage', '--take-over-metalk8s requires the component crds', {
      hint: "Add crds to --components: MetalK8s's definition lacks fields in which Stowage records a Volume.",
    });
  }
  const client = await connect();
  const { signal } = io;
  const hasDaemon = components.includes('deployment');
  const values = hasDaemon ? (flags.values ?? {}) : {};
  // Fails here rather than after MetalK8s's operator is stopped.
  if (hasDaemon) {
    const installed = await installedOf(client, 'deployment', signal);
    const bound = await boundNamespaces(client, signal);
    settledValues(daemonsAmong(installed, bound, flags.namespace ?? NAMESPACE), flags);
  }
  const operators = await findOperators(client, signal);
  await withVolumes(async (cluster, executor) => {
    const surveyed = await survey(cluster, executor);
    if (dryRun !== 'none') {
      io.stdout.write(takeOverText(operators, cluster, surveyed, flags.verbose ?? false));
    }
    const errors = [
      ...refusals(cluster),
      ...surveyed.flatMap((each) => ('error' in each ? [each.error] : [])),
    ];
    // A single refusal prevents the whole take-over.
    conclude(errors, errors.length, io);
  });
  if (dryRun === 'client') return;
  if (dryRun === 'server') return install({ ...flags, values, besideOperator: true }, io, connect);

  const running = operators.filter(isWanted);
  await stopOperators(client, operators, io);
  for (const each of running)
    print(`${titleOfOperator(each)} scaled from ${each.spec?.replicas ?? 1} to 0`);
  await checkStopped(client, signal);
  await install({ ...flags, components: ['crds'], values: {} }, io, connect);
  // Volumes may have changed until the operator was gone.
  await withVolumes(async (cluster, executor) => {
    const refused = refusals(cluster);
    conclude(refused, refused.length, io);
    for (const { volume, standing } of cluster.standings) {
      if (standing.is === 'left')
        print(`volume/${volume.metadata.name} left unchanged: ${standing.why}`);
    }
    const adopting = { client, executor, volumes: cluster.volumes, clock: io.clock, signal };
    const errors = await eachOf(cluster.subjects, async (subject) => {
      const { name } = subject.volume.metadata;
      try {
        const { device } = await recordVolume(subject, adopting);
        print(`volume/${name} adopted: ${what(device)} on ${subject.volume.spec.nodeName}`);
        return undefined;
      } catch (error) {
        return about(error, { kind: VOLUMES.kind, name });
      }
    });
    conclude(
      errors.filter((error) => error !== undefined),
      cluster.standings.length,
      io,
    );
  });
  await checkStopped(client, signal);
  const rest = components.filter((name) => name !== 'crds');
  if (rest.length > 0) await install({ ...flags, components: rest, values }, io, connect);
  for (const { metadata, spec } of running) {
    print(
      `note: an upgrade of MetalK8s may start its operator again; keep it at 0 replicas. To go back: stowage uninstall --components rbac,deployment; kubectl -n ${metadata.namespace} scale deployment ${metadata.name} --replicas ${spec?.replicas ?? 1}`,
    );
  }

  function print(text: string): void {
    io.stderr.write(`${printable(text)}\n`);
  }

  async function withVolumes(
    work: (cluster: Cluster, executor: Executor) => Promise<void>,
  ): Promise<void> {
    const cluster = await readVolumes(client, signal);
    const nodes = [...new Set(cluster.subjects.map(({ volume }) => volume.spec.nodeName))];
    await withNodes(nodes, flags, io, client, (executor) => work(cluster, executor));
  }
}

const refusals = ({ standings }: Cluster): StowageError[] =>
  standings.flatMap(({ volume, standing }) =>
    standing.is === 'refused' ? [refusedVolume(volume, standing.why, standing.hint)] : [],
  );
