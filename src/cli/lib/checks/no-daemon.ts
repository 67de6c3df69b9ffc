import type { Deployment } from '../../../api/core.ts';
import { COMPONENT } from '../../../api/names.ts';
import type { Check } from './report.ts';

/** Returns the check of a cluster without a leader, from Stowage's Deployments in it. Pure. */
export function noDaemon([deployment]: readonly Deployment[]): Pick<Check, 'message' | 'hint'> & {
  commands: string[];
} {
  if (deployment === undefined) {
    return {
      message: 'no daemon leads, and none is installed',
      hint: 'Install it, or run stowage watch. A daemon with --leader-election=false is not detected.',
      commands: ['stowage install'],
    };
  }
  const { metadata, spec, status } = deployment;
  const { name, namespace } = metadata;
  return {
    message: `no daemon leads: ${status?.readyReplicas ?? 0} of ${spec?.replicas ?? 1} pods of the Deployment ${namespace}/${name} are ready`,
    hint: 'Check why its pods are not ready: the image, the Secret stowage-ssh, or an error in its log.',
    commands: [
      `kubectl -n ${namespace} describe pods -l app.kubernetes.io/name=${COMPONENT}`,
      `kubectl -n ${namespace} logs deployment/${name}`,
    ],
  };
}
