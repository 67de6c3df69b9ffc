import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Link } from '../../../src/cli/why/types.ts';
import { expectSchema } from '../../support/output-page.ts';
import { describeAsRoot } from '../../support/root.ts';
import { until } from '../../support/until.ts';
import type { WhyOutput } from '../../support/why.ts';
import type { Broken } from '../../support/why-all/broken.ts';
import { BROKEN_CLAIMS } from '../../support/why-all/claims.ts';
import { type Scene, startScene } from '../../support/why-all/scene.ts';
import { BROKEN_VOLUMES } from '../../support/why-all/volumes.ts';

const BROKEN = [...BROKEN_VOLUMES, ...BROKEN_CLAIMS];

type Group = WhyOutput & { root: Link; objects: Link[] };

const text = ({ kind, namespace, name }: Link) =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;

const named = ({ cause, root, objects }: Group) =>
  `${cause}, of ${text(root)}: ${objects.map(text).toSorted().join(', ')}`;

const wanted = ({ cause, root, objects = [root] }: Broken) =>
  `${cause}, of ${root}: ${objects.toSorted().join(', ')}`;

/** A cluster with many different problems at once. */
describeAsRoot('why --all', () => {
  let at: Scene;
  let groups: Group[] = [];

  beforeAll(async () => {
    at = await startScene();
    await at.watch('--local-node', 'n1');
    await at.claim('base');
    await at.bound('base');
    await at.snapshot('base', { persistentVolumeClaimName: 'base' });
    await at.ready('base');
    await Promise.all(BROKEN.map((each) => each.sound?.(at)));
    await Promise.all(BROKEN.map((each) => each.breaks(at)));
  }, 300_000);
  afterAll(() => at?.end());

  const whyAll = (...args: string[]) =>
    execa('bin/stowage', ['why', '--all', ...args], {
      env: { KUBECONFIG: at.cluster.kubeconfig },
      reject: false,
    });

  async function look(): Promise<{ status: number | undefined; groups: Group[] }> {
    const { exitCode, stdout, stderr } = await whyAll('-o', 'json');
    if (stdout === '') throw new Error(stderr);
    const data = JSON.parse(stdout);
    expectSchema('held', data);
    return { status: exitCode, groups: data.groups };
  }

  /** Waits until `isIt` returns true. Throws with the last groups on a timeout. */
  async function lookUntil(what: string, isIt: (groups: Group[]) => boolean, ms?: number) {
    let last: Group[] = [];
    return until(
      what,
      async () => {
        const seen = await look();
        last = seen.groups;
        return isIt(last) ? seen : undefined;
      },
      ms,
    ).catch((cause: Error) => {
      const names = last.map(named);
      const absent = BROKEN.map(wanted).filter((one) => !names.includes(one));
      const seen = last.map((each) => `${named(each)}: ${each.holdup}`);
      throw new Error(
        [
          `${cause.message}. Named:`,
          ...(absent.length < seen.length ? ['…', 'not:', ...absent] : seen),
        ].join('\n'),
        { cause },
      );
    });
  }

  test('reports each problem once, with its cause and a fix', async () => {
    const all = BROKEN.map(wanted).toSorted();
    const seen = await lookUntil(
      'each problem is reported',
      (each) => all.every((one) => each.map(named).includes(one)),
      120_000,
    );
    groups = seen.groups;
    expect(seen.status).toBe(5);
    expect(groups.map(named).toSorted()).toEqual(all);
    expect(groups.filter(({ fix }) => !fix?.say).map(named)).toEqual([]);
    const objects = groups.flatMap((each) => each.objects.map(text));
    expect(new Set(objects).size).toBe(objects.length);
  });

  test('prints a fix that solves each problem', async () => {
    for (const broken of BROKEN) {
      const group = groups.find((each) => named(each) === wanted(broken));
      if (group === undefined) continue;
      await end(broken, group).catch((cause: Error) => {
        throw new Error(`${wanted(broken)}: ${cause.message}`, { cause });
      });
    }
    const { status } = await lookUntil('no problem is reported', (each) => each.length === 0);
    expect(status).toBe(0);
    expect((await whyAll()).stdout).toBe('');
  }, 400_000);

  async function end({ person, follow, after, next }: Broken, group: Group) {
    await person?.(at, group);
    const { yaml, run } = group.fix ?? {};
    if (follow !== false && (yaml ?? run) !== undefined) await at.someone.follow(group, follow);
    await after?.(at);
    if (next === undefined) return;
    const [cause, object] = next;
    const isNext = (each: Group) => each.cause === cause && each.objects.map(text).includes(object);
    const { groups: left } = await lookUntil(`${cause} comes next`, (all) => all.some(isNext));
    for (const each of left.filter(isNext)) await at.someone.follow(each, follow || {});
  }
});
