/**
 * Reasons by which a kubelet says that a container waits, as Kubernetes 1.36 has them (pkg/kubelet/images/types.go, and
 * pkg/kubelet/kubelet_pods.go), and versions before it since 1.8.
 */

/** An image does not come: it is pulled again, then waited with, and so on. */
export const OF_IMAGES: readonly string[] = ['ErrImagePull', 'ImagePullBackOff'];

/** The container is being made. */
export const ON_ITS_WAY: readonly string[] = ['ContainerCreating', 'PodInitializing'];
