import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import { DEPLOYMENTS, NAMESPACES } from '../../../src/api/resources.ts';
import { run } from '../../../src/cli/run.ts';
import { type Connection, connect } from '../../../src/kube/connect.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { fakeIo } from '../../support/fake-io.ts';
import { until } from '../../support/until.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';

const namespaced = (group: string, plural: string, kind: string): Resource => ({
  ...{ group, version: 'v1', plural, kind, namespaced: true },
});
const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false };
const QUOTAS = namespaced('', 'resourcequotas', 'ResourceQuota');
const LIMIT_RANGES = namespaced('', 'limitranges', 'LimitRange');
const POLICIES: Resource = {
  ...{ ...ADMISSION, plural: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' },
};
const BINDINGS: Resource = {
  ...ADMISSION,
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
};

describe('install into a cluster with policies', () => {
  let controlPlane: ControlPlane;
  let administrator: Connection;
  const namespace = 'stowage';

  beforeAll(async () => {
    controlPlane = await startControlPlane({ controllers: ['resourcequota-controller'] });
    administrator = await connect({ kubeconfig: controlPlane.kubeconfig });
  }, 600_000);
  afterAll(() => controlPlane?.stop());

  const create = (resource: Resource, name: string, spec: object, labels = {}) =>
    administrator.client.create(
      resource,
      {
        apiVersion: resource.group === '' ? 'v1' : `${resource.group}/v1`,
        kind: resource.kind,
        metadata: { name, labels, ...(resource.namespaced && { namespace }) },
        spec,
      } as KubeObject,
      resource.namespaced ? { namespace } : {},
    );
  const remove = (resource: Resource, name: string) =>
    administrator.client.delete(resource, name, resource.namespaced ? { namespace } : {});
  async function install(...flags: string[]) {
    const { io, outcome } = fakeIo();
    const argv = ['install', ...flags, '--kubeconfig', controlPlane.kubeconfig];
    const code = await run(argv, { ...io, clock: systemClock, connect });
    return { code, err: outcome.err };
  }
  /** Waits until the server enforces a new policy, then returns what install reported. */
  const refused = (...flags: string[]) =>
    until('install is refused', async () => {
      const done = await install(...flags);
      return done.code === 0 ? undefined : done;
    });

  test('Pod Security restricted admits the pod', async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await administrator.client.create<KubeObject>(NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels },
    });
    expect(await install()).toMatchObject({ code: 0 });
  });

  test('a quota on CPU names the flag, which it then admits', async () => {
    await create(QUOTAS, 'cpu', { hard: { 'limits.cpu': '2', 'requests.memory': '1Gi' } });
    const { code, err } = await refused();
    expect([code, err]).toEqual([5, expect.stringMatching(/limits\.cpu.*--limits/s)]);
    expect(await install('--limits', 'cpu=1')).toMatchObject({ code: 0 });
    await remove(QUOTAS, 'cpu');
    expect(await install('--reset-values')).toMatchObject({ code: 0 });
  });

  test('a limit range names the flag, which it then admits', async () => {
    await create(LIMIT_RANGES, 'least', {
      limits: [{ type: 'Container', min: { cpu: '100m' }, default: { cpu: '1' } }],
    });
    const { code, err } = await refused();
    expect([code, err]).toEqual([5, expect.stringMatching(/minimum cpu usage.*--requests/s)]);
    expect(await install('--requests', 'cpu=100m')).toMatchObject({ code: 0 });
    await remove(LIMIT_RANGES, 'least');
    expect(await install('--reset-values')).toMatchObject({ code: 0 });
  });

  test('a policy that demands a label admits all objects with --labels', async () => {
    await create(POLICIES, 'team', {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            ...{ apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'] },
            resources: [
              ...['deployments', 'serviceaccounts', 'clusterroles', 'clusterrolebindings', 'pods'],
              ...['roles', 'rolebindings', 'networkpolicies', 'customresourcedefinitions'],
            ],
          },
        ],
      },
      validations: [
        {
          expression: "has(object.metadata.labels) && 'team' in object.metadata.labels",
          message: 'the label team is missing',
        },
      ],
    });
    await create(BINDINGS, 'team', { policyName: 'team', validationActions: ['Deny'] });
    try {
      // An unchanged object is not written: another replica count changes the Deployment.
      const { err } = await refused('--replicas', '2');
      expect(err).toMatch(/the label team is missing.*--labels/s);
      expect(await install('--replicas', '2', '--labels', 'team=storage')).toMatchObject({
        code: 0,
      });
      const { metadata } = await administrator.client.get<KubeObject>(DEPLOYMENTS, 'stowage', {
        namespace,
      });
      expect(metadata.labels).toMatchObject({ team: 'storage' });
      // Later runs keep the labels.
      expect(await install()).toMatchObject({ code: 0 });
    } finally {
      await remove(BINDINGS, 'team');
      await remove(POLICIES, 'team');
    }
  });
});
