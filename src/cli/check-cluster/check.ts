import type { Deployment, Lease, StorageClass } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import { COMPONENT } from '../../api/names.ts';
import { DEPLOYMENTS, LEASES, STORAGE_CLASSES } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import type { KubeClient } from '../../kube/types.ts';
import { type Check, checkIn } from '../lib/checks/report.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import { inCluster } from '../lib/in-cluster.ts';
import type { Io } from '../lib/io.ts';
import { crdSkews } from '../lib/objects/crd-skew.ts';
import { MANAGED_BY } from '../lib/objects/installed-labels.ts';
import { asJson, asYaml } from '../lib/output/data.ts';
import { classChecks } from './classes.ts';
import { daemonChecks } from './daemon.ts';
import { definitionChecks } from './definitions.ts';
import { permissionChecks } from './permissions.ts';
import { clusterText } from './text.ts';

export interface CheckClusterFlags {
  output?: 'json' | 'yaml';
}

/** Runs `stowage check cluster`. Throws a StowageError `conflict` if a check fails; API errors. */
export async function checkCluster(
  { output, ...flags }: CheckClusterFlags & GlobalFlags,
  io: Io,
  connection: Connection,
): Promise<void> {
  const found = await runChecks(connection, io);
  const checks = found.map(({ command, ...check }) => ({
    ...checkIn(flags, check),
    ...(command !== undefined && { command: inCluster(flags)(command) }),
  }));
  if (output === 'json') io.stdout.write(asJson({ checks }));
  else if (output === 'yaml') io.stdout.write(asYaml({ checks }));
  else io.stdout.write(clusterText(checks));
  const failures = checks.filter(({ ok }) => !ok).length;
  if (failures > 0) {
    const count = failures === 1 ? '1 problem' : `${failures} problems`;
    throw new StowageError('conflict', `${count} in the cluster ${connection.server}`);
  }
}

async function runChecks({ client, server, serverVersion }: Connection, io: Io): Promise<Check[]> {
  const { signal, clock } = io;
  const { gitVersion } = await serverVersion(signal);
  const [definitions, permissions, daemon, classes] = await Promise.all([
    // Unreadable definitions are among the checks.
    crdSkews(client, signal, () => {}).then(definitionChecks),
    seen('permissions', () => permissionChecks(client, signal)),
    seen('daemon', async () => {
      const labelSelector = `${MANAGED_BY}=${COMPONENT}`;
      const [leases, deployments] = await Promise.all([
        all<Lease>(client, LEASES, signal),
        all<Deployment>(client, DEPLOYMENTS, signal, labelSelector),
      ]);
      return daemonChecks(leases, deployments, clock.timeOfDay());
    }),
    seen('storage class', async () =>
      classChecks(await all<StorageClass>(client, STORAGE_CLASSES, signal)),
    ),
  ]);
  const reached = {
    check: 'server',
    ok: true,
    message: `${server} answers, version ${gitVersion}`,
  };
  return [reached, ...definitions, ...permissions, ...daemon, ...classes];
}

const all = async <T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  signal: AbortSignal,
  labelSelector?: string,
): Promise<T[]> => (await listAll<T>(client, resource, { signal, labelSelector })).items;

/** Runs checks; reports refused or missing objects as a failed check. */
async function seen(check: string, run: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await run();
  } catch (error) {
    if (
      !(error instanceof StowageError) ||
      (error.code !== 'forbidden' && error.code !== 'not-found')
    ) {
      throw error;
    }
    const { message, hint } = error;
    return [
      {
        check,
        ok: false,
        message: `not checked: ${message}`,
        ...(hint === undefined ? {} : { hint }),
      },
    ];
  }
}
