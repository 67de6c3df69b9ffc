/**
 * Reasons that a kubelet reports for a waiting container, in Kubernetes 1.36
 * (pkg/kubelet/images/types.go, pkg/kubelet/kubelet_pods.go) and in versions since 1.8.
 */

/** Failed image pull, or backoff before the next one. */
export const OF_IMAGES: readonly string[] = ['ErrImagePull', 'ImagePullBackOff'];

/** Container creation in progress. */
export const ON_ITS_WAY: readonly string[] = ['ContainerCreating', 'PodInitializing'];
