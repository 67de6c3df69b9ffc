import type { StoredObject } from '../../../src/sandbox/kind.ts';

export interface KubeletPod extends StoredObject {
  spec: {
    nodeName?: string;
    containers?: { name: string; image?: string }[];
    volumes?: { persistentVolumeClaim?: { claimName: string } }[];
  };
  status?: { phase?: string; conditions?: Condition[]; containerStatuses?: ContainerStatus[] };
}

interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
}

interface ContainerStatus {
  name: string;
  image: string;
  ready: boolean;
  restartCount: number;
  state: { waiting?: object; running?: { startedAt: string }; terminated?: object };
}

/** Returns the pod with its containers being created; unchanged if already reported. */
export function starting(pod: KubeletPod): KubeletPod {
  if (pod.status?.containerStatuses !== undefined) return pod;
  return withContainers(pod, 'Pending', false, { waiting: { reason: 'ContainerCreating' } });
}

export function started(pod: KubeletPod, now: string): KubeletPod {
  const running = withContainers(pod, 'Running', true, { running: { startedAt: now } });
  const conditions = (pod.status?.conditions ?? []).filter(({ type }) => type === 'PodScheduled');
  for (const type of ['Initialized', 'ContainersReady', 'Ready'])
    conditions.push({ type, status: 'True', lastTransitionTime: now });
  return { ...running, status: { ...running.status, conditions } };
}

/** Returns the pod without running containers; unchanged if already reported. */
export function stopped(pod: KubeletPod, now: string): KubeletPod {
  if (!pod.status?.containerStatuses?.some(({ state }) => state.running)) return pod;
  const terminated = { exitCode: 0, reason: 'Completed', finishedAt: now };
  const done = withContainers(pod, pod.status.phase ?? 'Running', false, { terminated });
  const conditions = pod.status.conditions?.map((one) =>
    one.type === 'Ready' || one.type === 'ContainersReady'
      ? { ...one, status: 'False', lastTransitionTime: now }
      : one,
  );
  return { ...done, status: { ...done.status, ...(conditions && { conditions }) } };
}

function withContainers(
  pod: KubeletPod,
  phase: string,
  ready: boolean,
  state: ContainerStatus['state'],
): KubeletPod {
  const containerStatuses = (pod.spec.containers ?? []).map(({ name, image = '' }) => ({
    name,
    image,
    ready,
    restartCount: 0,
    state,
  }));
  return { ...pod, status: { ...pod.status, phase, containerStatuses } };
}
