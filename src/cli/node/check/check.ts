import type { StorageClass } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import type { Leftover } from '../../../api/leftover.ts';
import { DRIVER } from '../../../api/names.ts';
import { LEFTOVERS, STORAGE_CLASSES, VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { listAll } from '../../../kube/client.ts';
import { isNotFound } from '../../../kube/errors.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { dynamicClass } from '../../../model/dynamic-class.ts';
import { addressOfNode, addressProblems } from '../../../model/node-address.ts';
import { NodeError } from '../../../nodes/errors.ts';
import { conclude } from '../../lib/batch.ts';
import { type Check, checkIn, type NodeReport } from '../../lib/checks/report.ts';
import { checksText } from '../../lib/checks/text.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import type { Io } from '../../lib/io.ts';
import type { NodeFlags } from '../../lib/nodes/flags.ts';
import { reachNodes, readNodes } from '../../lib/nodes/with-nodes.ts';
import { asJson, asYaml } from '../../lib/output/data.ts';
import { printable } from '../../lib/output/printable.ts';
import { foundIn, reading } from '../../lib/read-result.ts';
import { nameProbe } from '../sudoers/name.ts';
import { readSample } from '../sudoers/print.ts';
import { judge } from './evaluate.ts';
import type { ClusterFacts } from './facts.ts';
import { runProgram } from './host-key/run.ts';
import { trustHostKey } from './host-key/trust.ts';
import { observeNode } from './observe-node.ts';
import { withLoginCommand } from './ssh-login.ts';

export interface CheckFlags extends NodeFlags {
  output?: 'json' | 'yaml';
  /** Fingerprint of the host key of the only node. */
  trustHostKey?: string;
}

/**
 * Runs `stowage check node`. Throws a StowageError `conflict` if a check fails, and the
 * NodeError of a node that cannot be reached; `partial` if other nodes can.
 */
export async function checkNodes(
  names: readonly string[],
  flags: CheckFlags & GlobalFlags,
  io: Io,
  client: KubeClient,
): Promise<void> {
  const nodes = await readNodes(names, io, client);
  if (flags.trustHostKey !== undefined)
    await trust(names[0] ?? '', flags.trustHostKey, nodes, flags, io);
  const before = { nodes, ...(await readCluster(client, io.signal)) };
  const name = nameProbe(await readSample());
  const results = await reachNodes(nodes, flags, io, (executor) =>
    Promise.all(
      names.map((node) =>
        orError(() => observeNode(executor, node, before, name, () => io.clock.timeOfDay())),
      ),
    ),
  );
  const after = await readCluster(client, io.signal);
  const cluster = both(before, after);
  const deleting = after.volumes.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const errors: unknown[] = [];
  const reports = results.map((result, index): NodeReport => {
    const node = names[index] ?? '';
    const address = addressChecks(node, nodes);
    if ('error' in result) {
      const error = withLoginCommand(result.error, nodes.get(node), flags);
      const { message, hint } = error;
      errors.push(error);
      const check = {
        check: 'reachable',
        ok: false,
        message,
        ...(hint === undefined ? {} : { hint }),
      };
      return { node, checks: [check, ...address] };
    }
    return { node, checks: [...address, ...judge(node, result.facts, cluster, deleting)] };
  });
  // Hints of errors get the cluster when they are printed. Commands of checks run on the node.
  const shown = reports.map(({ node, checks }) => ({
    node,
    checks: checks.map((check) => checkIn(flags, check)),
  }));
  print(shown, flags, io);
  conclude(errors, names.length, io);
  const failures = reports.flatMap(({ checks }) => checks.filter(({ ok }) => !ok));
  if (failures.length === 0) return;
  const found = failures.length === 1 ? '1 problem' : `${failures.length} problems`;
  const on = reports.filter(({ checks }) => checks.some(({ ok }) => !ok)).map(({ node }) => node);
  throw new StowageError('conflict', `${found} on ${on.join(', ')}`);
}

/** Checks the Node's annotations for addresses that ssh does not follow. */
const addressChecks = (node: string, nodes: ClusterFacts['nodes']): Check[] =>
  addressProblems(nodes.get(node)).map(({ annotation, message }) => ({
    check: 'address',
    ok: false,
    message,
    hint: `Correct the annotation, or remove it: kubectl annotate node ${node} ${annotation}-`,
  }));

async function trust(
  node: string,
  fingerprint: string,
  nodes: ClusterFacts['nodes'],
  { sshConfig, addresses }: CheckFlags,
  io: Io,
): Promise<void> {
  const address = { ...addressOfNode(nodes.get(node)), ...addresses.get(node) };
  const { key, knownHosts, known } = await trustHostKey({
    node,
    fingerprint,
    address,
    sshConfig,
    run: runProgram,
  });
  const what = known ? 'is already known in' : 'is now trusted: added to';
  io.stderr.write(
    `host key ${key.fingerprint} (${key.type}) of node ${node} ${what} ${printable(knownHosts)}\n`,
  );
}

type NodeResult = { facts: Awaited<ReturnType<typeof observeNode>> } | { error: NodeError };

async function orError(observe: () => ReturnType<typeof observeNode>): Promise<NodeResult> {
  try {
    return { facts: await observe() };
  } catch (error) {
    if (error instanceof NodeError) return { error };
    throw error;
  }
}

type Objects = Omit<ClusterFacts, 'nodes'>;

async function readCluster(client: KubeClient, signal: AbortSignal): Promise<Objects> {
  const volumes = await listVolumes(client, signal);
  const classes = await reading(listAll<StorageClass>(client, STORAGE_CLASSES, { signal }));
  const classDirectories = foundIn(classes)?.items.flatMap(directoryOf);
  try {
    const leftovers = (await listAll<Leftover>(client, LEFTOVERS, { signal })).items;
    return { volumes, leftovers, classDirectories };
  } catch (error) {
    // A cluster whose CRDs are older than this program has no Leftovers.
    if (isNotFound(error)) return { volumes, leftovers: [], classDirectories };
    throw error;
  }
}

/** Throws a StowageError `not-found` if the CRDs are missing, since that is what a list then is. */
async function listVolumes(client: KubeClient, signal: AbortSignal): Promise<Volume[]> {
  try {
    return (await listAll<Volume>(client, VOLUMES, { signal })).items;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new StowageError(
      'not-found',
      'the CRDs of Stowage are not installed: the cluster has no kind Volume',
      {
        hint: 'Install them, then check the node again: stowage install --components crds',
        cause: error,
      },
    );
  }
}

/** Returns the directory of a class for files; none for classes invalid or of other drivers. */
function directoryOf(storageClass: StorageClass): string[] {
  if (storageClass.provisioner !== DRIVER) return [];
  const options = dynamicClass(storageClass);
  return 'problem' in options || options.place.type !== 'sparse' ? [] : [options.place.directory];
}

/**
 * Merges the objects read before and after the observation of nodes, so that a Volume that came or
 * went meanwhile causes no finding. Storage is required only for Volumes of both reads; a Volume of
 * either read owns its storage.
 */
function both(before: ClusterFacts, after: Objects): ClusterFacts {
  const lasting = new Set(
    after.volumes
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.uid),
  );
  const owner = (volume: Volume): Volume => ({ ...volume, status: {} });
  return {
    nodes: before.nodes,
    volumes: [
      ...before.volumes.map((volume) =>
        lasting.has(volume.metadata.uid) ? volume : owner(volume),
      ),
      ...after.volumes.map(owner),
    ],
    leftovers: [...before.leftovers, ...after.leftovers],
    classDirectories: after.classDirectories,
  };
}

function print(reports: readonly NodeReport[], { output }: CheckFlags, io: Io): void {
  const data = reports.length === 1 ? (reports[0] as NodeReport) : { items: reports };
  if (output === 'json') io.stdout.write(asJson(data));
  else if (output === 'yaml') io.stdout.write(asYaml(data));
  else io.stdout.write(checksText(reports));
}
