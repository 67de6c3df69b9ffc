import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  CLUSTER_ROLES,
  CUSTOM_RESOURCE_DEFINITIONS,
  STORAGE_CLASSES,
} from '../../../src/api/resources.ts';
import { NAMESPACE } from '../../../src/cli/install/objects.ts';
import { rbacObjects } from '../../../src/cli/install/rbac.ts';
import { sourcesRole } from '../../../src/cli/populators/manifest.ts';
import { run } from '../../../src/cli/run.ts';
import { createClient } from '../../../src/kube/client.ts';
import { type Connection, connect } from '../../../src/kube/connect.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import type { Transport } from '../../../src/kube/transport.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { type Client, clientFor } from '../../api-server/client.ts';
import { cleanUp } from '../../api-server/server.ts';
import { LOCAL_CLASS } from '../../support/cluster.ts';
import { fakeIo } from '../../support/fake-io.ts';
import { HELLO_CRD, HELLO_DEFINITION } from '../../support/hello.ts';
import { seeded } from '../../support/random.ts';
import { until } from '../../support/until.ts';
import { startWholeLife } from '../../support/whole-life.ts';
import { certificateOf } from '../control-plane/api-server.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { kubeconfigFor } from '../control-plane/users.ts';
import { type Right, rightIn, rightsOf, setRights } from './rights.ts';

const MANY = process.env.STOWAGE_FAULTS !== undefined;
const SAMPLE = 6;
const SEED = Number(process.env.STOWAGE_FAULTS_SEED ?? Date.now() % 2 ** 32);

const RIGHTS = rightsOf(rbacObjects(NAMESPACE));
const ACCOUNT = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/stowage`;
const VOLUMES = '/apis/storage.metalk8s.scality.com/v1alpha1/volumes';
const LEFTOVERS = '/apis/stowage.dev/v1alpha1/leftovers';
const BACKUPS = '/apis/stowage.dev/v1alpha1/namespaces/default/backups';
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
const SNAPSHOTS = '/apis/snapshot.storage.k8s.io/v1';
const EVENTS = '/api/v1/namespaces/default/events';
const PODS = '/api/v1/namespaces/default/pods';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';

describe('stowage watch as the ServiceAccount that install makes', () => {
  let controlPlane: ControlPlane;
  let requests: Client;
  let administrator: Connection;
  let account: Connection;

  beforeAll(async () => {
    controlPlane = await startControlPlane({
      controllers: [
        'persistentvolume-binder-controller',
        'persistentvolume-protection-controller',
        'clusterrole-aggregation-controller',
      ],
      // Without this plugin no API server checks volumes/finalizers.
      apiServerFlags: ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'],
    });
    const { kubeconfig, url, folder } = controlPlane;
    requests = clientFor({ url, kubeconfig: await readFile(kubeconfig, 'utf8') });
    administrator = await connect({ kubeconfig });
    const { io, outcome } = fakeIo();
    const argv = [
      'install',
      '--components',
      'crds,rbac,snapshot-crds,referencegrant-crd,populator-crds',
      '--kubeconfig',
      kubeconfig,
    ];
    const code = await run(argv, { ...io, clock: systemClock, connect });
    expect({ code, err: outcome.err }).toEqual({ code: 0, err: expect.any(String) });
    await administrator.client.create(STORAGE_CLASSES, LOCAL_CLASS);
    await administrator.client.create<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS, HELLO_CRD);
    await administrator.client.create(CLUSTER_ROLES, sourcesRole(HELLO_DEFINITION));
    const { code: asked, body } = await requests.request('POST', `${ACCOUNT}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3600 },
    });
    expect(asked).toBe(201);
    const file = join(folder, 'stowage.kubeconfig');
    const user = { name: 'stowage', groups: [], token: body.status.token };
    await writeFile(file, kubeconfigFor({ url, ca: await certificateOf(folder) }, user), {
      mode: 0o600,
    });
    account = await connect({ kubeconfig: file });
  }, 600_000);
  afterAll(async () => {
    await requests?.close();
    await controlPlane?.stop();
  });
  cleanUp(
    () => ({ client: requests, kubeconfig: controlPlane.kubeconfig }),
    ...[`${SNAPSHOTS}/namespaces/default/volumesnapshots`, `${SNAPSHOTS}/volumesnapshotcontents`],
    ...[
      `${SNAPSHOTS}/volumesnapshotclasses`,
      PODS,
      CLAIMS,
      BACKUPS,
      VOLUMES,
      LEFTOVERS,
      '/api/v1/persistentvolumes',
      '/api/v1/nodes',
      EVENTS,
      LEASES,
    ],
  );

  /** Runs a Volume's whole life, and collects each 403. */
  const startDaemon = () => {
    const refused: string[] = [];
    const { promise: isRefused, resolve: onRefused } = Promise.withResolvers<void>();
    const transport = telling(account.transport, (message) => {
      refused.push(message);
      onRefused();
    });
    const connection = { ...account, transport, client: createClient(transport) };
    const life = startWholeLife({ client: administrator.client, connection, namespace: NAMESPACE });
    return { ...life, refused, isRefused };
  };

  test('nothing is refused', async () => {
    const { done, isRefused, refused, stop } = startDaemon();
    await Promise.race([isRefused, done]).finally(stop);
    expect(refused).toEqual([]);
  });

  test.each(chosen())(
    'without the right to $name: only its requests are refused, until it is granted',
    async (taken) => {
      const give = (given: readonly Right[]) =>
        setRights(administrator.client, account.transport, RIGHTS, given);
      await give(RIGHTS.filter((right) => right !== taken));
      const { done, isRefused, refused, lines, stop } = startDaemon();
      const isTold = () =>
        lines
          .flatMap(
            ({ fields: { err, ready } }) => [err, ready] as ({ message?: string } | undefined)[],
          )
          .some((told) => told?.message?.includes(refused[0] ?? ''));
      try {
        await Promise.race([isRefused, done]);
        await Promise.race([until('refusal is reported', async () => isTold() || undefined), done]);
        await give(RIGHTS);
        await done;
      } finally {
        await stop();
      }
      expect([...new Set(refused.map((message) => rightIn(message, RIGHTS)))]).toEqual([
        taken.name,
      ]);
    },
  );
});

/** Returns all rights, or a random sample if time is limited. */
function chosen(): Right[] {
  if (MANY) return RIGHTS;
  console.info(`${SAMPLE} of ${RIGHTS.length} rights: STOWAGE_FAULTS_SEED=${SEED}`);
  const random = seeded(SEED);
  const left = [...RIGHTS];
  return Array.from({ length: SAMPLE }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
}

/** Wraps the transport, and reports each request that is refused for a missing right. */
function telling(transport: Transport, onRefused: (message: string) => void): Transport {
  const tell = (error: unknown) => {
    if (error instanceof ApiError && error.statusCode === 403) onRefused(error.message);
    throw error;
  };
  return {
    ...transport,
    send: (request) => transport.send(request).catch(tell),
    async *stream(request) {
      try {
        yield* transport.stream(request);
      } catch (error) {
        tell(error);
      }
    },
  };
}
