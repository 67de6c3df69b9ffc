/** Of kube-apiserver's feature gates those that change what the sandbox does, as Kubernetes 1.36 has them by default. */
export const DEFAULT_GATES = {
  /** Whether spec.dataSourceRef of a claim may name a namespace; else such a reference is dropped without a word. */
  CrossNamespaceVolumeDataSource: false,
};
export type FeatureGates = Readonly<typeof DEFAULT_GATES>;
