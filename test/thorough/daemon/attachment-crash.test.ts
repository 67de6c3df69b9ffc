import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { ATTACHED_NODES_ANNOTATION } from '../../../src/api/names.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../../src/api/resources.ts';
import type { Attachment } from '../../../src/api/volume.ts';
import {
  type AttachmentCluster,
  startAttachmentCluster,
} from '../../support/attachment-cluster.ts';
import { type LazyNodes, lazyNodes } from '../../support/lazy-nodes.ts';
import { type Mortal, mortal } from '../../support/mortal.ts';
import { seeded, seedOf } from '../../support/random.ts';
import { until } from '../../support/until.ts';

/**
 * The attachdetach controller is killed at each effect of an attach and a detach. A new one starts
 * with the same API server and node, and must reach the right result, regardless of the recorded
 * state.
 */

/** All combinations instead of one for each effect. */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const SEED = seedOf();
/**
 * Exceeds the effects of a daemon from the creation or deletion of the pod until everything is
 * reported.
 */
const EFFECTS = 14;

/** Attachments that a new process reads. */
const RECORDS = ['as it was', 'older', 'newer'] as const;
/** Changes of the pod while no controller runs. */
const PODS = ['stays', 'changes'] as const;
/**
 * Number of polls before a job runs, and whether the kubelet mounts the device before anything
 * else.
 */
const NODES = [
  { lazy: 0, kubelet: 'quick' },
  { lazy: 2, kubelet: 'quick' },
  { lazy: 4, kubelet: 'slow' },
] as const;

interface Case {
  what: 'attach' | 'detach';
  at: number;
  when: 'before' | 'after';
  record: (typeof RECORDS)[number];
  pod: (typeof PODS)[number];
  lazy: number;
  kubelet: 'quick' | 'slow';
}

const random = seeded(SEED);
const one = <T>(of: readonly T[]): T[] => of.slice(Math.floor(random() * of.length)).slice(0, 1);
const some = <T>(of: readonly T[]): readonly T[] => (MANY ? of : one(of));

const CASES: Case[] = Array.from({ length: EFFECTS }, (_, index) => index + 1).flatMap((at) =>
  (['before', 'after'] as const).flatMap((when) =>
    (['attach', 'detach'] as const).flatMap((what) =>
      some(RECORDS).flatMap((record) =>
        some(PODS).flatMap((pod) =>
          some(NODES).map((node) => ({ what, at, when, record, pod, ...node })),
        ),
      ),
    ),
  ),
);

/** A detach job that is still pending, and a pod that is created again before the job runs. */
const WORST: Case[] = RECORDS.map((record) => ({
  ...({ what: 'detach', at: 3, when: 'after', pod: 'changes', lazy: 4, kubelet: 'slow' } as const),
  record,
}));

let cluster: AttachmentCluster | undefined;
let nodes: LazyNodes;
let life: Mortal;
let hasPod = false;
/** Set if the last case ended correctly: the next one continues from its state. */
let sound = false;

async function live(): Promise<void> {
  const at = cluster as AttachmentCluster;
  await at.stop();
  life = mortal(at.client, nodes);
  await at.start({ client: life.client, executor: life.executor });
}

beforeEach(async () => {
  if (sound) return;
  await cluster?.end();
  cluster = await startAttachmentCluster();
  nodes = lazyNodes(cluster.nodes, 'n1');
  hasPod = false;
  await live();
  await cluster.createOnDemand('a');
});
afterAll(() => cluster?.end());

async function setPod(there: boolean, kubelet: Case['kubelet'] = 'quick'): Promise<void> {
  const at = cluster as AttachmentCluster;
  if (there === hasPod) return;
  hasPod = there;
  // The kubelet unmounts before the pod is deleted.
  if (!there) nodes.use(false);
  await (there ? at.createPod('p', 'a') : at.deletePod('p'));
  if (there && kubelet === 'quick') nodes.use(true);
}

async function isRight(): Promise<true | undefined> {
  const at = cluster as AttachmentCluster;
  const { loops } = at.nodes.disk('n1');
  const [shown, ...others] = await at.attachments('a');
  const record = await at.record('a');
  if (others.length > 0) throw new Error('it is shown twice');
  if (!hasPod) return loops.size === 0 && shown === undefined && record === '[]' ? true : undefined;
  const told = (await at.podCondition('p'))?.status === 'True';
  const whole = shown?.node === 'n1' && shown.safeToMount && shown.pods.join() === 'default/p';
  return loops.size === 1 && whole && told && record === '["n1"]' ? true : undefined;
}
const comesRight = () => until(`a is ${hasPod ? 'attached' : 'detached'} in all objects`, isRight);

async function rewrite(attached: boolean): Promise<void> {
  const { client } = cluster as AttachmentCluster;
  const attachment: Attachment = {
    ...{
      node: 'n1',
      state: 'Attached',
      safeToMount: true,
      safeToDetach: false,
      pods: ['default/p'],
    },
    since: '2026-03-01T12:00:00.000Z',
  };
  const annotations = { [ATTACHED_NODES_ANNOTATION]: attached ? '["n1"]' : '[]' };
  await client.patch(PERSISTENT_VOLUMES, 'a', { metadata: { annotations } });
  const status = { attachments: attached ? [attachment] : [] };
  await client.patch(VOLUMES, 'a', { status }, { subresource: 'status' });
}

test.each(MANY ? CASES : [...CASES, ...WORST])(
  'survives kill $when effect $at of $what: state $record, pod $pod, $lazy polls, $kubelet kubelet',
  async ({ what, at, when, record, pod, lazy, kubelet }) => {
    sound = false;
    const wanted = what === 'attach';
    nodes.laziness = 0;
    await setPod(!wanted);
    await comesRight();
    await cluster?.idle();

    nodes.laziness = lazy;
    const died = life.arm(at, when);
    await setPod(wanted, kubelet);
    await Promise.race([died, comesRight()]);
    await cluster?.stop();
    if (record !== 'as it was') await rewrite((record === 'newer') === wanted);
    if (pod === 'changes') await setPod(!wanted, kubelet);

    await live();
    await comesRight();
    // Remaining jobs of the killed controller run last.
    await nodes.runAll();
    await comesRight();
    await cluster?.idle();
    expect(await isRight()).toBe(true);
    nodes.use(hasPod);
    expect(nodes.faults).toEqual([]);
    sound = true;
  },
);
