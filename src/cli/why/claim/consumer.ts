import type { PersistentVolumeClaim } from '../../../api/core.ts';

/** Kubernetes' own image of a program that does nothing. */
const PAUSE = 'registry.k8s.io/pause:3.10';

/** Returns a pod that uses a claim, so that the scheduler chooses a node for both. Pure. */
export function consumerOf({ metadata: { name, namespace }, spec }: PersistentVolumeClaim): object {
  const block = spec.volumeMode === 'Block';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${name.slice(0, 240)}-consumer`, namespace },
    spec: {
      containers: [
        {
          name: 'pause',
          image: PAUSE,
          ...(block
            ? { volumeDevices: [{ name: 'data', devicePath: '/dev/data' }] }
            : { volumeMounts: [{ name: 'data', mountPath: '/data' }] }),
        },
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
    },
  };
}
