import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clientMinor, kubectlIn } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { onNode } from '../support/volumes.ts';
import { PATHS } from './builtin.ts';
import { cleanUp, type Suite } from './server.ts';

/** Results of stock kubectl with built-in kinds, and its tables. */
export const kubectlBuiltin: Suite = (server) => {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-kubectl-'));
  const { use, kubectl, start, expectOutput, applied } = kubectlIn(folder);

  /** Debian 12's kubectl is 1.20: it explains by OpenAPI v2, which the sandbox does not have. */
  const old = clientMinor() < 27;

  afterAll(() => rmSync(folder, { recursive: true }));
  beforeAll(() => use({ kubeconfig: readFileSync(server().kubeconfig, 'utf8') }));
  cleanUp(
    server,
    PATHS.pods,
    PATHS.claims,
    PATHS.volumes,
    PATHS.classes,
    PATHS.nodes,
    '/apis/storage.metalk8s.scality.com/v1alpha1/volumes',
    '/apis/stowage.dev/v1alpha1/leftovers',
  );

  const node = (name: string, labels: object = {}, spec: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
  });
  const storageClass = (more: object = {}) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'local' },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...more,
  });
  const volume = (spec: object = {}) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v' },
    spec: {
      capacity: { storage: '10Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      local: { path: '/dev/x' },
      nodeAffinity: onNode('n1'),
      ...spec,
    },
  });
  const claim = (spec: object = {}) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c', namespace: 'default' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      resources: { requests: { storage: '5Gi' } },
      ...spec,
    },
  });
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'c', image: 'x' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }],
    },
  };
  const bound = async () => {
    for (const object of [node('n1'), storageClass(), volume(), claim(), pod])
      await applied(object);
    // Reserves the volume, as the scheduler does.
    const reserved = { spec: { claimRef: { namespace: 'default', name: 'c' } } };
    await kubectl(`patch pv v --type=merge -p '${JSON.stringify(reserved)}'`);
    await until('the claim is bound', async () => {
      const { out } = await kubectl('get pvc c -o jsonpath={.status.phase}');
      return out === 'Bound' || undefined;
    });
  };

  test('apply again, label, annotate, cordon and taint', async () => {
    await applied(node('n1', { tier: 'x' }));
    await expectOutput('apply -f -', 'node/n1 unchanged', node('n1', { tier: 'x' }));
    await expectOutput('label node n1 zone=a', 'node/n1 labeled');
    await expectOutput('apply -f -', 'node/n1 configured', node('n1'));
    await expectOutput('annotate node n1 example.com/a=b', 'node/n1 annotated');
    await expectOutput('cordon n1', 'node/n1 cordoned');
    await expectOutput('taint node n1 k=v:NoSchedule', 'node/n1 tainted');
    await expectOutput(
      'get node n1 -o jsonpath={.metadata.labels}{.spec}',
      '{"kubernetes.io/hostname":"n1","zone":"a"}{"taints":[{"effect":"NoSchedule","key":"k","value":"v"},{"effect":"NoSchedule","key":"node.kubernetes.io/not-ready"}],"unschedulable":true}',
    );
  });

  test('apply a changed pod by the names of its containers', async () => {
    await applied(pod);
    const changed = { ...pod, spec: { ...pod.spec, containers: [{ name: 'c', image: 'y' }] } };
    await expectOutput('apply -f -', 'pod/p configured', changed);
    await expectOutput('get pod p -o jsonpath={.spec.containers[*].image}', 'y');
    await expectOutput(
      `patch pod p -p '{"spec":{"containers":[{"image":"z"}]}}'`,
      /does not contain declared merge key: name/,
    );
  });

  describe('tables', () => {
    const table = async (line: string) =>
      (await kubectl(`get ${line}`)).out.replaceAll(/ +$/gm, '').split('\n');

    test('of volumes, claims, classes, pods and nodes', async () => {
      await bound();
      for (const [line, header, row] of [
        [
          'pv',
          'NAME   CAPACITY   ACCESS MODES   RECLAIM POLICY   STATUS   CLAIM       STORAGECLASS   VOLUMEATTRIBUTESCLASS   REASON   AGE',
          /^v {6}10Gi {7}RWO {12}Retain {11}Bound {4}default\/c {3}local {10}<unset> +\d+s$/,
        ],
        [
          'pvc -o wide',
          'NAME   STATUS   VOLUME   CAPACITY   ACCESS MODES   STORAGECLASS   VOLUMEATTRIBUTESCLASS   AGE   VOLUMEMODE',
          /^c {6}Bound {4}v {8}10Gi {7}RWO {12}local {10}<unset> +\d+s +Filesystem$/,
        ],
        [
          'sc',
          'NAME    PROVISIONER                    RECLAIMPOLICY   VOLUMEBINDINGMODE      ALLOWVOLUMEEXPANSION   AGE',
          /^local {3}kubernetes.io\/no-provisioner {3}Delete {10}WaitForFirstConsumer {3}false +\d+s$/,
        ],
        ['pods', 'NAME   READY   STATUS    RESTARTS   AGE', /^p {6}0\/1 {5}Pending {3}0 {10}\d+s$/],
        ['nodes', 'NAME   STATUS    ROLES    AGE   VERSION', /^n1 {5}Unknown {3}<none> {3}\d+s$/],
      ] as const)
        expect([line, ...(await table(line))]).toEqual([line, header, expect.stringMatching(row)]);
    });

    test('of custom resources have the columns of their definition', async () => {
      await applied({
        apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
        kind: 'Volume',
        metadata: { name: 'data' },
        spec: { nodeName: 'n1', storageClassName: 'local', sparseLoopDevice: { size: '1Gi' } },
      });
      const status = { phase: 'Available', deviceName: 'loop3', capacity: '1Gi' };
      await kubectl(
        `patch vol data --type=merge --subresource=status -p '${JSON.stringify({ status })}'`,
      );
      expect(await table('vol')).toEqual([
        'NAME   NODE   PHASE       READY   DEVICE   CAPACITY   STORAGECLASS   AGE',
        expect.stringMatching(/^data {3}n1 {5}Available {11}loop3 {4}1Gi {8}local {10}\d+s$/),
      ]);
      await applied({
        apiVersion: 'stowage.dev/v1alpha1',
        kind: 'Leftover',
        metadata: { name: 'left' },
        spec: { nodeName: 'n1', volumeName: 'data', uid: 'u', storageClassName: 'local' },
      });
      expect(await table('leftovers')).toEqual([
        'NAME   VOLUME   NODE   JOB   MESSAGE   AGE',
        expect.stringMatching(/^left {3}data {5}n1 +\d+s$/),
      ]);
      const [header, ...rows] = await table('crd');
      const longest = Math.max(...rows.map((row) => row.split(' ')[0]?.length ?? 0));
      expect(header).toBe(`${'NAME'.padEnd(longest + 3)}CREATED AT`);
    });

    test('are watched', async () => {
      const { lines, exitCode, stop } = start('get ns -w');
      expect(await lines.next()).toMatch(/^NAME +STATUS +AGE$/);
      expect(await lines.next()).toMatch(/^default +Active +\d+/);
      for (const name of ['kube-node-lease', 'kube-public', 'kube-system'])
        expect(await lines.next()).toMatch(new RegExp(`^${name} +Active`));
      await expectOutput('create -f -', /created$/, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'work' },
      });
      expect(await lines.next()).toMatch(/^work +Active +\d+s$/);
      await kubectl('delete ns work');
      stop();
      await exitCode;
    });
  });

  test('explains custom resources', async () => {
    if (old) return expectOutput('explain vol', /couldn't find resource/);
    await expectOutput(
      'explain vol.spec.nodeName',
      /^GROUP: +storage.metalk8s.scality.com\nKIND: +Volume\nVERSION: +v1alpha1\n\nFIELD: nodeName <string>\n\n+DESCRIPTION:\n +Node that holds the storage\./,
    );
    await expectOutput(
      'explain leftover.spec',
      /FIELD: spec <Object> -required-|FIELD: spec <Object>/,
    );
    await expectOutput('explain vol.spec.nope', /field "nope" does not exist/);
  });

  test('create generates built-in kinds', async () => {
    for (const [line, created] of [
      ['namespace work', 'namespace/work created'],
      ['configmap cm --from-literal=a=b', 'configmap/cm created'],
      ['secret generic s --from-literal=a=b', 'secret/s created'],
      ['serviceaccount me', 'serviceaccount/me created'],
      ['role r --verb=get --resource=pods', 'role.rbac.authorization.k8s.io/r created'],
      [
        'clusterrole cr --verb=get,list --resource=nodes',
        'clusterrole.rbac.authorization.k8s.io/cr created',
      ],
      ['rolebinding rb --role=r --user=joe', 'rolebinding.rbac.authorization.k8s.io/rb created'],
      [
        'clusterrolebinding crb --clusterrole=cr --serviceaccount=default:me',
        'clusterrolebinding.rbac.authorization.k8s.io/crb created',
      ],
      ['deployment d --image=x --replicas=0', 'deployment.apps/d created'],
    ])
      await expectOutput(`create ${line}`, created ?? '');
    await expectOutput('get cm cm -o jsonpath={.data}', '{"a":"b"}');
    await expectOutput('get secret s -o jsonpath={.data}{.type}', '{"a":"Yg=="}Opaque');
    await expectOutput(
      'get clusterrole cr -o jsonpath={.rules}',
      '[{"apiGroups":[""],"resources":["nodes"],"verbs":["get","list"]}]',
    );
    await expectOutput(
      'get clusterrolebinding crb -o jsonpath={.roleRef}{.subjects}',
      '{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cr"}[{"kind":"ServiceAccount","name":"me","namespace":"default"}]',
    );
    await expectOutput(
      'get deploy d -o jsonpath={.spec.replicas}{.spec.template.spec.containers[*].image}{.metadata.generation}',
      '0x1',
    );
    await expectOutput('run p --image=x', 'pod/p created');
    await kubectl('delete ns/work cm/cm secret/s sa/me role/r rolebinding/rb deploy/d');
    await kubectl('delete clusterrole/cr clusterrolebinding/crb');
  });

  describe('what cannot be changed', () => {
    const patch = (kind: string, body: object) =>
      kubectl(`patch ${kind} --type=merge -p '${JSON.stringify(body)}'`).then(({ out }) => out);

    test('of a volume', async () => {
      await applied(volume());
      expect(await patch('pv v', { spec: { local: { path: '/dev/y' } } })).toMatch(
        /spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation/,
      );
      expect(await patch('pv v', { spec: { nodeAffinity: null } })).toMatch(
        /spec.nodeAffinity: Required value/,
      );
    });

    test('of a claim, but its size where the class lets it grow', async () => {
      await bound();
      const size = (storage: string) =>
        patch('pvc c', { spec: { resources: { requests: { storage } } } });
      expect(await size('6Gi')).toBe(
        'Error from server (Forbidden): persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
      expect(await patch('sc local', { allowVolumeExpansion: true })).toMatch(/patched$/);
      expect(await size('20Gi')).toMatch(/patched$/);
      expect(await size('10Gi')).toMatch(/Forbidden: field can not be less than status.capacity/);
      expect(await patch('pvc c', { spec: { accessModes: ['ReadOnlyMany'] } })).toMatch(
        /^The PersistentVolumeClaim "c" is invalid: spec: Forbidden: spec is immutable after creation/,
      );
    });

    test('of a class', async () => {
      await applied(storageClass());
      expect(await patch('sc local', { parameters: { a: 'b' } })).toBe(
        'The StorageClass "local" is invalid: parameters: Invalid value: {"a":"b"}: field is immutable',
      );
    });
  });
};
