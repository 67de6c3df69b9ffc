/**
 * Feature gates and their defaults in Kubernetes 1.36: those of kube-apiserver that affect the
 * sandbox. The daemon has a gate of the same name, as external-provisioner does.
 */
export const DEFAULT_GATES = {
  /**
   * Permits a namespace in spec.dataSourceRef of a claim; otherwise the
   * reference is silently dropped.
   */
  CrossNamespaceVolumeDataSource: false,
};
export type FeatureGates = Readonly<typeof DEFAULT_GATES>;
