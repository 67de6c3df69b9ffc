/**
 * Writes of test/bench/attach.ts without other work. Each pod with a claim causes all writes of an
 * attach in parallel, and those of a detach once the pod is gone. Concurrency is the daemon's.
 *
 * Nothing is read, decided or run on a node: a controller with the same writes is hardly faster on
 * this machine. The requests are printed as by attach-daemon.ts.
 */
import { readFile } from 'node:fs/promises';
import type { Pod } from '../../src/api/core.ts';
import {
  ATTACHED_NODES_ANNOTATION,
  EVENT,
  VOLUMES_ATTACHED_CONDITION,
} from '../../src/api/names.ts';
import { PERSISTENT_VOLUMES, PODS, VOLUMES } from '../../src/api/resources.ts';
import { createClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import { createEventRecorder } from '../../src/kube/events.ts';
import { limitRequests } from '../../src/kube/flow-control.ts';
import { createInformer } from '../../src/kube/informer.ts';
import { AT_ONCE } from '../../src/manager/leader-guard.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import type { WritesInput } from './attach-programs.ts';

const { kubeconfig }: WritesInput = JSON.parse(await readFile(process.argv[2] ?? '', 'utf8'));

let calls: Record<string, number> = {};
const told = () => {
  console.log(JSON.stringify(calls));
  calls = {};
};
process.on('SIGUSR2', told);

const { transport } = await connect({
  kubeconfig,
  onCall({ verb, resource }) {
    const name = `${verb} ${resource}`;
    calls[name] = (calls[name] ?? 0) + 1;
  },
});
// Each concurrent request has a connection: more would mostly measure handshakes.
const client = createClient(limitRequests(transport, AT_ONCE));
const logger = { debug() {}, info() {}, warn: console.error, error: console.error };
const common = { client, clock: systemClock, logger };
const events = createEventRecorder({ ...common, component: 'bench', host: 'bench' });
const pods = createInformer<Pod>({ ...common, random: Math.random, resource: PODS });
pods.onChange(({ type, object }) => {
  const volume = claimOf(object);
  if (volume === undefined || type === 'updated') return;
  const wrote = type === 'added' ? attached(object, volume) : written(volume, []);
  wrote.catch((error) => {
    console.error(error);
    process.exit(1);
  });
});
process.on('SIGTERM', () => {
  told();
  process.exit(0);
});
pods.start();

const claimOf = ({ spec }: Pod) =>
  spec.volumes?.flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? [])[0];

async function attached(pod: Pod, volume: string): Promise<void> {
  const { name, namespace = 'default', uid } = pod.metadata;
  const condition = {
    type: VOLUMES_ATTACHED_CONDITION,
    status: 'True',
    reason: 'Attached',
    message: '',
    lastTransitionTime: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  const patch = { metadata: { uid }, status: { conditions: [condition] } };
  const message = `Volume "${volume}" is attached to node ${pod.spec.nodeName}`;
  await Promise.all([
    written(volume, [{ node: pod.spec.nodeName ?? '', pods: [`${namespace}/${name}`] }]),
    client.patch(PODS, name, patch, { namespace, subresource: 'status', type: 'strategic' }),
  ]);
  events.event(pod, 'Normal', EVENT.successfulAttachVolume, message);
}

async function written(
  volume: string,
  on: readonly { node: string; pods: string[] }[],
): Promise<void> {
  const device = on.length > 0 ? '/dev/loop0' : undefined;
  const since = new Date().toISOString();
  const state = { state: 'Attached', safeToMount: true, safeToDetach: false, since };
  const attachments = on.map((each) => ({ ...each, ...state, device }));
  const annotations = { [ATTACHED_NODES_ANNOTATION]: JSON.stringify(on.map(({ node }) => node)) };
  const status = { attachments, deviceName: device ?? null };
  await Promise.all([
    client.patch(VOLUMES, volume, { status }, { subresource: 'status' }),
    client.patch(PERSISTENT_VOLUMES, volume, { metadata: { annotations } }),
  ]);
}
