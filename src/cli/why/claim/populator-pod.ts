import type { PersistentVolumeClaim, Pod } from '../../../api/core.ts';
import { POPULATE_FINALIZER, POPULATED_BY_ANNOTATION } from '../../../api/names.ts';
import { attemptsOf } from '../../../controllers/populator/attempts.ts';
import { standstillText, whyNotRunning } from '../../../controllers/populator/pod-state.ts';
import { RETRY } from '../../../model/retry.ts';
import { commandLine } from '../../lib/command-line.ts';
import type { Blocker, Fix } from '../types.ts';
import type { ClaimFacts } from './facts.ts';

/** Reports the state of a populator's pod; undefined if the claim does not wait for it. Pure. */
export function populating({ population }: ClaimFacts): Blocker | undefined {
  const { prime, pod } = population?.made ?? {};
  const isFilled = prime?.metadata.annotations?.[POPULATED_BY_ANNOTATION] !== undefined;
  if (pod === undefined) return isFilled || prime === undefined ? undefined : fillFailed(prime);
  const { namespace = '', name, creationTimestamp, deletionTimestamp } = pod.metadata;
  const of = commandLine('-n', namespace, name);
  const describe = `kubectl describe pod ${of}`;
  const what = `pod ${namespace}/${name}`;
  if (deletionTimestamp !== undefined) {
    return {
      cause: 'Populating',
      holdup: isFilled
        ? `its volume is filled, and is bound to it once ${what} is gone`
        : `${what}, which should fill its volume, is being deleted${on(pod)}: another one is created when it is gone`,
      since: deletionTimestamp,
      next: {
        when: 'when the pod is gone, which requires that its node answers',
      },
      fix: {
        say: 'Check whether its node is Ready, and the events of the pod.',
        run: ['kubectl get nodes', describe],
      },
    };
  }
  const since = creationTimestamp === undefined ? {} : { since: creationTimestamp };
  const phase = pod.status?.phase;
  if (phase === 'Running') {
    const { failed = 0, message = '' } = attemptsOf(prime) ?? {};
    const before =
      failed === 0
        ? ''
        : `, attempt ${failed + 1} of ${RETRY.maxTransfers}; the last one failed: ${message}`;
    return {
      cause: failed === 0 ? 'Populating' : 'PopulationFailing',
      holdup: `it is being filled by ${what}${on(pod)}${before}`,
      ...since,
      next: { when: 'when the pod has ended' },
      fix: { say: 'Check its log.', run: [`kubectl logs ${of}`] },
    };
  }
  const stands = whyNotRunning(pod);
  if (stands === undefined) return undefined;
  return {
    cause: 'PopulationFailing',
    holdup: `${what}, which should fill its volume, does not run: ${standstillText(stands)}`,
    ...since,
    next: { when: 'automatically, once the cause is removed' },
    fix:
      stands.code === 'PodUnscheduled'
        ? unscheduled(describe)
        : {
            say: 'Check the events of the pod. If its PopulatorDefinition is wrong, change it: the pod is then created again.',
            run: ['stowage get populators', describe],
          },
  };
}

/** Returns the fix for a pod without a node: taints, labels, or resources keep it away. */
const unscheduled = (describe: string): Fix => ({
  say: 'Free a node for the pod, or correct tolerations, nodeSelector or resources in its PopulatorDefinition: the pod is then created again.',
  run: ['stowage get populators', 'kubectl get nodes', describe],
});

const on = ({ spec }: Pod): string =>
  spec.nodeName === undefined ? '' : ` on node ${spec.nodeName}`;

/** Reports the failed pods, even if their events have expired. */
function fillFailed(prime: PersistentVolumeClaim): Blocker | undefined {
  const attempts = attemptsOf(prime);
  if (attempts === undefined || attempts.failed < RETRY.maxTransfers) return undefined;
  return {
    cause: 'PopulationFailing',
    holdup: `${attempts.failed} pods failed to fill its volume. The last one: ${attempts.message}`,
    since: new Date(attempts.at).toISOString(),
    next: { when: 'when its data source or the PopulatorDefinition changes' },
    fix: {
      say: 'Correct the data source or the PopulatorDefinition.',
      run: ['stowage get populators'],
    },
  };
}

/** Reports a claim deleted while being filled: its pod may still write. Pure. */
export function cancelling({ claim, population }: ClaimFacts): Blocker | undefined {
  const { deletionTimestamp: since, finalizers } = claim.metadata;
  const { pod } = population?.made ?? {};
  if (since === undefined || pod === undefined || !finalizers?.includes(POPULATE_FINALIZER))
    return undefined;
  const { namespace = '', name } = pod.metadata;
  return {
    cause: 'RemovalRunning',
    holdup: `it is being deleted, and pod ${namespace}/${name}, which fills its volume${on(pod)}, still exists`,
    since,
    next: {
      when: 'when the pod is gone, which requires that its node answers',
    },
    fix: {
      say: 'Check whether its node is Ready, and the events of the pod.',
      run: ['kubectl get nodes', commandLine('kubectl', 'describe', 'pod', '-n', namespace, name)],
    },
  };
}
