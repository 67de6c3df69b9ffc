import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { PODS } from '../../../src/api/resources.ts';
import { describeAsRoot } from '../../support/root.ts';
import { type FaultyScene, HALF, startFaultyScene } from './populators-faulty.ts';
import { OWN } from './populators-scene.ts';

/** Timeout in ms: pods are slow on a busy machine. */
jest.setTimeout(240_000);

/** Pods are evicted soon (after s) from a lost node, instead of after five minutes. */
const SOON_OFF = [
  '--default-not-ready-toleration-seconds=5',
  '--default-unreachable-toleration-seconds=5',
];

describeAsRoot('a real pod that is terminated while it populates a claim', () => {
  let scene: FaultyScene;

  beforeAll(async () => {
    scene = await startFaultyScene(SOON_OFF);
    await scene.kind.register('hello', HALF);
  }, 600_000);
  afterEach(() => scene.clear());
  afterAll(() => scene?.stop());

  test('retries after a user deletes the pod, even if it exits with 0', async () => {
    const uid = await scene.claim('deleted');
    await scene.runs(uid);
    await scene.remove(PODS, `populate-${uid}`, OWN);
    await scene.isTold('deleted', 'before it ended');
    await scene.isFilled('deleted');
  });

  test('retries after a drain of its node, once the node is uncordoned', async () => {
    const uid = await scene.claim('drained');
    await scene.runs(uid);
    const selector = `--pod-selector=stowage.dev/populates-uid=${uid}`;
    try {
      await scene.kubectl('drain', scene.node, selector, '--force', '--ignore-daemonsets');
      await scene.isTold('drained', 'EvictionByEvictionAPI');
      await scene.isTold('drained', 'does not run: 0/1 nodes are available');
      expect(await scene.why('drained')).toContain('does not run: 0/1 nodes are available');
    } finally {
      await scene.kubectl('uncordon', scene.node);
    }
    await scene.isFilled('drained');
  });

  test('retries after a NoExecute taint evicts the pod', async () => {
    const uid = await scene.claim('tainted');
    await scene.runs(uid);
    await scene.kubectl('taint', 'node', scene.node, 'lost=yes:NoExecute');
    try {
      await scene.isTold('tainted', 'DeletionByTaintManager');
    } finally {
      await scene.kubectl('taint', 'node', scene.node, 'lost-');
    }
    await scene.isFilled('tainted');
  });

  test('retries after its node was lost and returns', async () => {
    const uid = await scene.claim('lost');
    await scene.runs(uid);
    const { kubeletPid } = scene.machine;
    // If no node is Ready, the node lifecycle controller evicts no pods.
    const stopOther = await scene.otherNode('n2');
    process.kill(kubeletPid, 'SIGSTOP');
    try {
      await scene.isTold('lost', 'DeletionByTaintManager');
      expect(await scene.why('lost')).toContain(
        `is being deleted on node ${scene.node}: another one is created when`,
      );
    } finally {
      process.kill(kubeletPid, 'SIGCONT');
      await stopOther();
    }
    await scene.isFilled('lost');
  });

  test('retries after the namespace of the daemon is deleted and installed again', async () => {
    const uid = await scene.claim('homeless');
    const { metadata } = await scene.runs(uid);
    await scene.kubectl('delete', 'namespace', OWN, '--timeout=90s');
    expect(await scene.why('homeless')).toMatch(/Blocked by:/);
    expect((await scene.claimNow('homeless')).metadata.finalizers).toContain(
      'stowage.dev/populate-target-protection',
    );
    const { exitCode } = await scene.stowage('install', '--components', 'rbac');
    expect(exitCode).toBe(0);
    // Without its Lease, the daemon has ended.
    await scene.watchAgain();
    const next = await scene.isAnother(uid, metadata.uid ?? '');
    await scene.remove(PODS, next.metadata.name, OWN);
    await scene.isFilled('homeless');
  });
});
