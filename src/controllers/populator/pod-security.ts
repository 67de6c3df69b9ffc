import type { PopulatorPod } from '../../api/populator.ts';

/** User of populator pods by default, without any rights, as in distroless images ("nonroot"). */
export const POPULATOR_USER = 65532;

/**
 * Returns the default user of populator pods. In a cluster, it is the daemon's own: some clusters,
 * such as OpenShift, allow few user IDs in its namespace, where these pods run as well. Pure.
 */
export const populatorUser = (uid: number | undefined, inCluster: boolean): number =>
  inCluster && uid ? uid : POPULATOR_USER;

/**
 * Returns the security context of a populator's pod. Without settings, the pod runs as `user` under
 * Pod Security `restricted`, and may write to the volume by its group. Settings replace single
 * fields. Pure.
 */
export function podSecurityOf({ securityContext = {} }: PopulatorPod, user: number): object {
  const { runAsUser, runAsGroup, runAsNonRoot, fsGroup } = securityContext;
  // A definition that allows or denies root without a user means the user of the image.
  const isDefault = runAsUser === undefined && runAsNonRoot === undefined;
  const uid = isDefault ? user : runAsUser;
  const isUnprivileged = runAsNonRoot ?? uid !== 0;
  const group = fsGroup ?? (isUnprivileged ? (runAsGroup ?? uid ?? user) : undefined);
  return {
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
    ...securityContext,
    runAsNonRoot: isUnprivileged,
    ...(uid !== undefined && { runAsUser: uid }),
    ...(isDefault && runAsGroup === undefined && { runAsGroup: user }),
    ...(group !== undefined && { fsGroup: group }),
  };
}

/** Returns the security context of a populator's container, without rights by default. Pure. */
export function containerSecurityOf({ containerSecurityContext = {} }: PopulatorPod): object {
  const { capabilities, ...settings } = containerSecurityContext;
  const add = capabilities?.add ?? [];
  return {
    allowPrivilegeEscalation: false,
    ...settings,
    capabilities: { drop: ['ALL'], ...(add.length > 0 && { add }) },
  };
}
