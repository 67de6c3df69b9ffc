import { join } from 'node:path';
import type { KubeEvent, PersistentVolumeClaim, Pod, StorageClass } from '../../../src/api/core.ts';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  EVENTS,
  NAMESPACES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../../src/api/resources.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import { HELLOS, hello, helloCrd, helloReference, hellosOf } from '../../support/hello.ts';
import { ownFileSystem } from '../../support/loop-mounts.ts';
import { until } from '../../support/until.ts';
import { IMAGE } from './image.ts';
import { NAMESPACE, podsOf } from './pods.ts';
import { startScene } from './scene.ts';

/** Namespace of the daemon. */
export const OWN = 'stowage';

/**
 * Script for sh that writes a file into a volume, or its text onto a device. The text for file $1
 * is $2.
 */
export const FILL =
  'if [ -b /dev/target ]; then printf "%s\\n" "$2" | dd of=/dev/target conv=fsync; else printf "%s\\n" "$2" >"/target/$1"; fi';

export type PopulatorsScene = Awaited<ReturnType<typeof startPopulatorsScene>>;

const GATE = '--feature-gates=CrossNamespaceVolumeDataSource=true';

/**
 * Starts a real cluster with classes of files on an XFS of its own, and pods that populate volumes.
 */
export async function startPopulatorsScene(apiServerFlags: readonly string[] = []) {
  const disk = await ownFileSystem('xfs', 4n << 30n);
  const scene = await startScene({
    apiServerFlags: [GATE, ...apiServerFlags],
    components: ['referencegrant-crd', 'populator-crds'],
    watchFlags: [GATE],
  }).catch(async (error: unknown) => {
    await disk.remove();
    throw error;
  });
  const { client, stowage } = scene;
  const createClass = (name: string, more: Partial<StorageClass> = {}) =>
    client.create<StorageClass>(STORAGE_CLASSES, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name },
      provisioner: 'volume.stowage.dev',
      parameters: { directory: join(disk.path, 'volumes'), fsType: 'ext4' },
      volumeBindingMode: 'Immediate',
      reclaimPolicy: 'Delete',
      ...more,
    });
  const createNamespace = (name: string) =>
    client.create<KubeObject>(NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });

  /** Creates the kind Hello in a group, so that each group is registered separately. */
  async function createKind(group = HELLOS.group) {
    await client.create<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS, helloCrd(group));
    await until(`${group} is served`, () =>
      client.list(hellosOf(group)).then(
        () => true,
        (error: unknown) => (isNotFound(error) ? undefined : Promise.reject(error)),
      ),
    );
    return {
      resource: hellosOf(group),
      reference: (name: string, namespace?: string) => helloReference(name, namespace, group),
      source: (name: string, namespace = NAMESPACE, text?: string) =>
        client.create(hellosOf(group), hello(name, namespace, text, group), { namespace }),
      /** Registers a populator. `script` is for sh, with the text for file $1 as $2. */
      async register(name: string, script: string, ...more: string[]) {
        const done = await stowage(
          ...['register', 'populator', name, '--group', group, '--kind', HELLOS.kind],
          ...(more.includes('--image') ? [] : ['--image', IMAGE]),
          ...['--command=sh', '--command=-c', `--command=${script}`, '--command=hello'],
          ...['--arg={.spec.fileName}', '--arg={.spec.fileContents}'],
          ...['--mount-path', '/target', '--device-path', '/dev/target'],
          ...['--api-version', HELLOS.version, '--resource', HELLOS.plural],
          ...more,
        );
        if (done.exitCode !== 0) throw new Error(done.stderr);
        return done;
      },
    };
  }

  const createClaim = (name: string, spec: object = {}, namespace = NAMESPACE) =>
    client.create(
      PERSISTENT_VOLUME_CLAIMS,
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name, namespace },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'immediate',
          resources: { requests: { storage: '32Mi' } },
          dataSourceRef: helloReference('example'),
          ...spec,
        },
      } as PersistentVolumeClaim,
      { namespace },
    );
  const claimNow = (name: string, namespace = NAMESPACE) =>
    client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, { namespace });
  const eventsOf = async (name: string, namespace = NAMESPACE) =>
    (await client.list<KubeEvent>(EVENTS, { namespace })).items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`);
  const own = async () => (await client.list<Pod>(PODS, { namespace: OWN })).items;
  /** Rethrows the error with the status of the populator pods, to explain the failure. */
  const orSeen = async (error: Error): Promise<never> => {
    const pods = (await own()).map(({ status }) => status);
    throw new Error(`${error.message}: ${JSON.stringify(pods)}`, { cause: error });
  };

  return {
    ...scene,
    disk,
    watchAgain: () => scene.watch([GATE]),
    createClass,
    createNamespace,
    createKind,
    createClaim,
    claimNow,
    eventsOf,
    pods: podsOf(client),
    podsIn: (namespace: string, withinMs?: number) => podsOf(client, namespace, withinMs),
    remove: (resource: Resource, name: string, namespace = NAMESPACE) =>
      client.delete(resource, name, { namespace }),
    isTold: (name: string, text: string) =>
      until(`${name} has an event: ${text}`, async () =>
        (await eventsOf(name)).find((event) => event.includes(text)),
      ).catch(async (error: Error) =>
        orSeen(new Error(`${error.message}: ${await eventsOf(name)}`)),
      ),
    isBound: (name: string, namespace = NAMESPACE) =>
      until(`${name} is bound`, async () => {
        const found = await claimNow(name, namespace);
        return found.status?.phase === 'Bound' ? found : undefined;
      }).catch(orSeen),
    /** Waits until the claim's populator pod runs, and returns it. */
    runs: (uid = '') =>
      until('the populator pod runs', async () =>
        (await own()).find(
          ({ metadata, status }) =>
            metadata.name === `populate-${uid}` && status?.phase === 'Running',
        ),
      ).catch(orSeen),
    /** Waits for a populator pod with another UID than `not`. */
    isAnother: (uid: string, not: string) =>
      until('another populator pod runs', async () =>
        (await own()).find(
          ({ metadata, status }) =>
            metadata.name === `populate-${uid}` &&
            metadata.uid !== not &&
            status?.phase === 'Running',
        ),
      ).catch(orSeen),
    /** Waits until the API server enforces the quota. */
    isEnforced: (quotas: Resource, name: string) =>
      until(`quota ${name} is enforced`, async () => {
        const quota = await client.get<KubeObject & { status?: { hard?: object } }>(quotas, name, {
          namespace: OWN,
        });
        return quota.status?.hard === undefined ? undefined : true;
      }),
    /** Waits until no populator object remains, and no claim has a finalizer of Stowage. */
    isClean: (withinMs?: number) =>
      until(
        'no object of the populator is left',
        async () => {
          const primes = (await client.list(PERSISTENT_VOLUME_CLAIMS, { namespace: OWN })).items;
          const held = (await client.list(PERSISTENT_VOLUME_CLAIMS)).items.filter(({ metadata }) =>
            metadata.finalizers?.some((each) => each.startsWith('stowage')),
          );
          return (await own()).length + primes.length + held.length === 0 || undefined;
        },
        withinMs,
      ),
    isEmpty: () =>
      until('no volume is left', async () => {
        const { items } = await client.list(VOLUMES);
        return (
          items.length + (await client.list(PERSISTENT_VOLUMES)).items.length === 0 || undefined
        );
      }),
    async stop() {
      await scene.stop();
      await disk.remove();
    },
  };
}
