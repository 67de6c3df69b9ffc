import { describe, expect, test } from '@jest/globals';
import { type Explanation, explain, reason } from '../../../../src/api/reasons.ts';
import { RETRY } from '../../../../src/model/retry.ts';
import {
  ATTACHED,
  DETACHED,
  node,
  off,
  type ReconcilerWorld,
  reconcilerWorld,
  refusal,
} from '../../../support/reconciler-world.ts';

const PAUSED = { 'stowage.dev/paused': 'true' };
const FORCE_DETACHED = explain('LetGoMeanwhile', { node: 'n1' });

describe('the record of an attach to one node of several', () => {
  const attaching = async () => {
    const world = reconcilerWorld({ pod: 'n1' });
    await world.verify(DETACHED);
    await world.decide();
    expect(world.running()).toMatchObject({ kind: 'attach', node: 'n1' });
    return world;
  };

  test('is written right before the job, and not while the node is verified', async () => {
    const { decide, precheck, writes, pass, entries, shown } = await attaching();
    pass(3000);
    await decide();
    expect(entries()).toEqual(['n1 Attaching']);
    expect(writes.filter((each) => JSON.stringify(each).includes('Attaching'))).toEqual([]);
    expect(await precheck()).toBeUndefined();
    expect(shown()).toEqual([expect.objectContaining({ node: 'n1', state: 'Attaching' })]);
    const { length } = writes;
    await decide();
    expect(writes).toHaveLength(length);
  });

  test('is written again after a conflict', async () => {
    const { refuse, precheck, shown } = await attaching();
    refuse(refusal(409));
    expect(await precheck()).toBeUndefined();
    expect(shown()).toHaveLength(1);
  });

  const not = 'cannot record the attachment';
  test.each([
    [
      'is refused',
      [refusal(403)],
      { message: `${not}: PATCH returned status 403`, detail: { code: 'AttachNotRecorded' } },
    ],
    [
      'conflicts each time',
      Array.from({ length: RETRY.maxConflicts }, () => refusal(409)),
      {
        message: `${not}: the Volume changed at each attempt`,
        detail: reason('AttachRecordContended'),
      },
    ],
  ])('prevents the job if its write %s', async (_, refusals, why) => {
    const { refuse, precheck } = await attaching();
    refuse(...refusals);
    expect(await precheck()).toMatchObject(why);
  });

  test('prevents the job if the Volume is gone', async () => {
    const { volumes, precheck } = await attaching();
    volumes.drop('v1');
    expect(await precheck()).toEqual({
      message: 'Volume v1 no longer exists',
      detail: reason('VolumeGone', { volume: 'v1' }),
    });
  });

  test.each<[string, (world: ReconcilerWorld) => void, Explanation]>([
    [
      'deleted',
      ({ changeVolume }) => changeVolume({}, {}, { deletionTimestamp: '2026-03-01T12:00:00Z' }),
      explain('VolumeBeingDeleted', { volume: 'v1' }),
    ],
    ['force-detached on its node', ({ nodes }) => nodes.recordWrite(off('n1')), FORCE_DETACHED],
    [
      'paused',
      ({ changeVolume }) => changeVolume({}, {}, { annotations: PAUSED }),
      explain('OperationPaused', { kind: 'Volume', name: 'v1', resume: 'volume v1' }),
    ],
    [
      'paused on its node',
      ({ nodes }) => {
        const { metadata, ...more } = node('n1', true);
        nodes.recordWrite({ ...more, metadata: { ...metadata, annotations: PAUSED } });
      },
      explain('OperationPaused', { kind: 'Node', name: 'n1', resume: 'node n1' }),
    ],
  ])('prevents the job if the Volume is %s during the write', async (_, change, why) => {
    const world = await attaching();
    world.whileWriting(async () => {
      change(world);
      await world.decide();
    });
    expect(await world.precheck()).toEqual(why);
  });

  test('is not written for a node that was force-detached meanwhile', async () => {
    const { decide, nodes, precheck, forced } = await attaching();
    nodes.recordWrite(off('n1'));
    await decide();
    expect(forced).toEqual(['out-of-service']);
    expect(await precheck()).toEqual(FORCE_DETACHED);
  });

  test('is never written by attempts that submit no job', async () => {
    const { decide, end, pass, running, writes } = await attaching();
    const silent = { is: 'unknown', message: 'n1 is silent' } as const;
    await decide();
    writes.length = 0;
    let tries = 0;
    for (let second = 0; second < 1800; second++) {
      if (running()?.kind === 'attach' && second % 10 === 0) {
        await end('attach', 'n1', { ...silent, nothingDone: true });
        tries++;
      } else if (running()?.kind === 'verify') await end('verify', 'n1', silent);
      pass(1000);
      await decide();
    }
    expect(tries).toBeGreaterThan(10);
    expect(writes.flatMap(({ attachments }) => attachments)).toEqual([]);
  });
});

describe('a status.prepared that Stowage never wrote', () => {
  const forged = { node: 'n9', paths: ['/srv/of-another'] };

  test('starts no operation and reports that to the pod, until it is corrected', async () => {
    const { decide, end, prepare, running, events, entries, ranBy } = reconcilerWorld({
      pod: 'n2',
    });
    prepare(forged);
    await decide();
    expect(running()).toBeUndefined();
    expect(entries()).toEqual(['n1 Uncertain']);
    expect(events).toEqual(['p1 FailedAttachVolume']);
    prepare({});
    await decide();
    await end('verify', 'n1', ATTACHED);
    await decide();
    expect(running()).toMatchObject({ kind: 'verify', node: 'n2' });
    expect(ranBy).toEqual(['/srv/u1', '/srv/u1']);
  });

  test('causes no verification of its node after it is corrected', async () => {
    const { decide, end, prepare, changeVolume, nodes, running } = reconcilerWorld();
    changeVolume({ attachableNodes: undefined });
    nodes.recordWrite(node('n9', true));
    prepare(forged);
    await decide();
    prepare({});
    await decide();
    await end('verify', 'n1', DETACHED);
    await decide();
    expect(running()).toMatchObject({ kind: 'verify', node: 'n1' });
  });

  test('is not used to detach once the Volume is gone', async () => {
    const { decide, end, prepare, volumes, ranBy } = reconcilerWorld();
    await decide();
    await end('verify', 'n1', ATTACHED);
    prepare(forged);
    await decide();
    expect(ranBy).toEqual(['/srv/u1']);
    volumes.drop('v1');
    await decide();
    await end('verify', 'n2', DETACHED);
    await decide();
    await end('detach', 'n1', DETACHED);
    expect(ranBy).toEqual(['/srv/u1', '/srv/u1', '/srv/u1']);
  });

  test('detaches nothing once the Volume is gone if there was no other record', async () => {
    const { reconciler, decide, prepare, volumes, ranBy } = reconcilerWorld();
    prepare(forged);
    await decide();
    volumes.drop('v1');
    await decide();
    expect(ranBy).toEqual([]);
    expect([...reconciler.known()]).toEqual([]);
  });

  test('does not decide which process manages the nodes of the Volume', async () => {
    const { reconciler, decide, prepare, changeVolume } = reconcilerWorld();
    changeVolume({ nodeName: 'foreign', attachableNodes: undefined });
    prepare(forged);
    await decide();
    expect([...reconciler.known()]).toEqual([]);
  });
});
