import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { readPage } from '../../support/documents/page.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';

const ACCOUNT = 'system:serviceaccount:prod:snapshots';
const STOWAGE = 'bin/stowage';

/** Manifests that the page instructs to apply: the account with its rights, and the CronJob. */
const scheduled = readPage('docs/snapshots.md').manifests.filter((text) =>
  /^kind: (ServiceAccount|CronJob)$/m.test(text),
);

describe('the CronJob of docs/snapshots.md', () => {
  let controlPlane: ControlPlane;

  const kubectl = async (argv: readonly string[], input = '') =>
    (
      await execa(controlPlane.kubectl, ['--kubeconfig', controlPlane.kubeconfig, ...argv], {
        input,
      })
    ).stdout;
  /** Runs the command of the CronJob's container as its account. */
  async function take() {
    const asked = ['get', 'cronjob', 'snapshots-of-db', '-n', 'prod', '-o', 'json'];
    const job = JSON.parse(await kubectl(asked)) as {
      spec: {
        jobTemplate: { spec: { template: { spec: { containers: { command: string[] }[] } } } };
      };
    };
    const [program = '', ...argv] =
      job.spec.jobTemplate.spec.template.spec.containers[0]?.command ?? [];
    const env = { KUBECONFIG: controlPlane.kubeconfigOf(ACCOUNT), PATH: `bin:${process.env.PATH}` };
    return execa(program, argv, { env, reject: false });
  }

  beforeAll(async () => {
    const users = { [ACCOUNT]: ['system:serviceaccounts', 'system:serviceaccounts:prod'] };
    controlPlane = await startControlPlane({
      users,
      controllers: ['persistentvolume-binder-controller'],
    });
    const env = { KUBECONFIG: controlPlane.kubeconfig };
    await execa(STOWAGE, ['install', '--components', 'crds,rbac,snapshot-crds'], { env });
    await kubectl(['create', 'namespace', 'prod']);
    for (const manifest of scheduled) await kubectl(['apply', '-f', '-'], manifest);
    const claim = {
      ...{
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'db', namespace: 'prod' },
      },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    await kubectl(['apply', '-f', '-'], JSON.stringify(claim));
  }, 600_000);
  afterAll(() => controlPlane?.stop());

  test('creates a snapshot with the rights that the page grants', async () => {
    const { exitCode, stdout, stderr } = await take();
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/volumesnapshot.*\/db-\d{8}-\d{4} created/),
      stderr: '',
    });
    const made = await kubectl(['get', 'volumesnapshot', '-n', 'prod', '-o', 'json']);
    expect(
      (JSON.parse(made) as { items: { spec: object }[] }).items.map(({ spec }) => spec),
    ).toMatchObject([{ source: { persistentVolumeClaimName: 'db' } }]);
  });

  test('is refused without its RoleBinding', async () => {
    await kubectl(['delete', 'rolebinding', 'snapshots', '-n', 'prod']);
    const { exitCode, stderr } = await take();
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining(ACCOUNT),
    });
  });
});
