/**
 * Feature gates and their defaults, as Kubernetes 1.36 has them: of kube-apiserver those that change what the sandbox does. The
 * daemon has a gate of its own of the same name, as external-provisioner does.
 */
export const DEFAULT_GATES = {
  /** Whether spec.dataSourceRef of a claim may name a namespace; else such a reference is dropped without a word. */
  CrossNamespaceVolumeDataSource: false,
};
export type FeatureGates = Readonly<typeof DEFAULT_GATES>;
