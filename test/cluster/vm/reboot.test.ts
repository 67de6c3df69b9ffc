import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeNode } from '../../../src/api/core.ts';
import { NODES } from '../../../src/api/resources.ts';
import type { Backing, Content } from '../../support/kinds.ts';
import { until } from '../../support/until.ts';
import { CONVERGES_WITHIN, NODE, readyOf, type Scene, startScene } from './scene.ts';

/** One that is attached again, and one that comes back by itself. */
const VOLUMES: readonly (readonly [name: string, Backing, Content])[] = [
  ['file', 'sparse file', 'ext4'],
  ['disk', 'disk', 'xfs'],
];

/** What is looked at by itself is so every 30 s; a kubelet's word is to be much faster than that. */
const AT_ONCE = 15_000;

let scene: Scene;
const paths = new Map<string, string>();

beforeAll(async () => {
  scene = await startScene();
  await scene.told(async () => {
    for (const [name, backing, content] of VOLUMES) await scene.create(name, backing, content);
    for (const [name, , content] of VOLUMES) {
      const { status } = await scene.ready(name, 'True');
      const path = status?.devicePath ?? '';
      paths.set(name, path);
      await scene.node.write(content, path, `data of ${name}`);
    }
  })();
}, 1_200_000);
afterAll(() => scene?.stop(), 60_000);

const told = (work: () => Promise<void>) => () => scene.told(work)();
const pathOf = (name: string) => paths.get(name) ?? '';

/** That each is on its path, and how long after `since` (ms since the epoch). */
async function back(since: number, withinMs: number): Promise<string> {
  const took: string[] = [];
  for (const [name] of VOLUMES) {
    await until(`${name} is on its path`, withinMs, async () =>
      (await scene.node.exists(pathOf(name))) ? true : undefined,
    );
    took.push(`${name} ${((Date.now() - since) / 1000).toFixed(1)} s`);
  }
  return took.join(', ');
}

async function keptAll(): Promise<void> {
  for (const [name, , content] of VOLUMES) {
    await scene.ready(name, 'True');
    expect(await scene.node.read(content, pathOf(name))).toBe(`data of ${name}`);
  }
}

/** What a kubelet writes when it starts. */
async function kubeletStarts(): Promise<void> {
  const { stdout: bootID } = await scene.vm.run(['cat', '/proc/sys/kernel/random/boot_id']);
  const status = { nodeInfo: { bootID }, conditions: [{ type: 'Ready', status: 'True' }] };
  await scene.cluster.client.patch<KubeNode>(NODES, NODE, { status }, { subresource: 'status' });
}

test(
  'a node reboots, without a word of a kubelet: all are back on their paths, with what was on them',
  told(async () => {
    await scene.vm.reboot();
    const took = await back(Date.now(), CONVERGES_WITHIN);
    console.info(`on their paths after sshd answered, by the daemon's own looks: ${took}`);
    await keptAll();
  }),
  3 * CONVERGES_WITHIN,
);

test(
  'a node reboots, and its kubelet tells of it: they are back at once',
  told(async () => {
    await scene.cluster.client.create<KubeNode>(NODES, {
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } },
    });
    await kubeletStarts();
    await scene.vm.reboot();
    const began = Date.now();
    await kubeletStarts();
    console.info(`on their paths after the kubelet told of the boot: ${await back(began, AT_ONCE)}`);
    expect(Date.now() - began).toBeLessThan(AT_ONCE);
    await keptAll();
  }),
  3 * CONVERGES_WITHIN,
);

test(
  'a node without power is Ready=Unknown with the reason, and recovers by itself',
  told(async () => {
    const began = Date.now();
    await scene.vm.powerCut();
    for (const [name] of VOLUMES) {
      const volume = await scene.ready(name, 'Unknown');
      expect(volume.status?.phase).toBe('Available');
      expect(readyOf(volume)).toMatchObject({
        reason: 'NodeUnreachable',
        message: expect.stringMatching(/^node vm1 is not reached over ssh: /),
      });
    }
    console.info(`all Ready=Unknown ${Math.round((Date.now() - began) / 1000)} s after the power cut`);
    await scene.vm.boot();
    console.info(`on their paths after sshd answered: ${await back(Date.now(), CONVERGES_WITHIN)}`);
    await keptAll();
    const failed = (await scene.watch.statuses()).filter(({ phase }) => phase === 'Failed');
    expect(failed).toEqual([]);
  }),
  4 * CONVERGES_WITHIN,
);

test(
  'a disk that is unplugged is Ready=False, also over a power cut, and nothing is made in its place',
  told(async () => {
    const { vm } = scene;
    await vm.unplug('whole');
    const lost = await scene.ready('disk', 'False');
    expect(readyOf(lost)).toMatchObject({
      reason: 'UnavailableError',
      message: expect.stringContaining(`${vm.disk('whole')}`),
    });
    await vm.powerCut();
    await vm.boot();
    await scene.ready('file', 'True');
    expect(readyOf(await scene.ready('disk', 'False'))).toMatchObject({ reason: 'UnavailableError' });
    await vm.plug('whole');
    await scene.ready('disk', 'True');
    await keptAll();
  }),
  6 * CONVERGES_WITHIN,
);
