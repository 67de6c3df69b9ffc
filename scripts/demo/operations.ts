import { until } from '../../test/support/until.ts';
import type { Stage } from './stage.ts';

/** An on-demand volume is attached for a pod, and detached after it. */
export async function attachments(stage: Stage): Promise<void> {
  await stage.say('A volume that is attached only while a pod needs it.');
  await stage.run('stowage', 'create', 'storageclass', 'demo-pods', '--static');
  await stage.stowage(
    ...['create', 'volume', 'demo-pods', '--node', 'n1', '--storage-class', 'demo-pods'],
    ...['--size', '64Mi', '--attach-policy', 'OnDemand', '--wait'],
  );
  await stage.stowage('get', 'attachments');
  await stage.say('A claim, and a pod on n1. The demo runs no pods: their objects are enough.');
  await stage.apply(`apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: db, namespace: default }
spec:
  storageClassName: demo-pods
  volumeName: demo-pods
  accessModes: [ReadWriteOnce]
  resources: { requests: { storage: 64Mi } }
---
apiVersion: v1
kind: Pod
metadata: { name: db, namespace: default }
spec:
  nodeName: n1
  containers: [{ name: main, image: busybox }]
  volumes: [{ name: data, persistentVolumeClaim: { claimName: db } }]
`);
  await attached(stage, 'Attached');
  await stage.stowage('get', 'attachments');
  await stage.say('The pod is gone: the device is detached.');
  await stage.type('kubectl', ['delete', 'pod', 'db', '--grace-period=0', '--force']);
  const names = () => stage.run('stowage', 'get', 'attachments', '-o', 'name');
  await until('no attachment', async () => ((await names()) === '' ? true : undefined));
  await stage.stowage('get', 'attachments');
  await stage.type('kubectl', ['delete', 'pvc', 'db']);
  await stage.stowage('delete', 'volume', 'demo-pods', '--wait');
}

const attached = (stage: Stage, state: string) =>
  stage.type('kubectl', [
    ...['wait', 'volume/demo-pods', `--for=jsonpath={.status.attachments[0].state}=${state}`],
    '--timeout=30s',
  ]);

/** A broken thing, its cause, and the fix that is printed. */
export async function why(stage: Stage): Promise<void> {
  await stage.say('A volume whose storage class does not exist. Asked why, Stowage names the fix.');
  await stage.stowage(
    ...['create', 'volume', 'demo-broken', '--node', 'n1', '--storage-class', 'demo-missing'],
    ...['--size', '64Mi'],
  );
  const failed = '--for=jsonpath={.status.phase}=Failed';
  await stage.run('kubectl', 'wait', 'volume/demo-broken', failed, '--timeout=30s');
  await stage.stowage('why', 'volume', 'demo-broken');
  await stage.say('The fix, applied as it is printed.');
  const { fix } = JSON.parse(
    await stage.run('stowage', 'why', 'volume', 'demo-broken', '-o', 'json'),
  );
  await stage.type('sh', ['-ec', fix.run.join('\n')]);
  const available = '--for=jsonpath={.status.phase}=Available';
  await stage.type('kubectl', ['wait', 'volume/demo-broken', available, '--timeout=30s']);
  await stage.stowage('why', 'volume', 'demo-broken');
  await stage.stowage('delete', 'volume', 'demo-broken', '--wait');
}
