/**
 * Reports whether no node has the capacity, by kube-scheduler's message in Kubernetes 1.19 to 1.36:
 * ErrReasonNotEnoughSpace of its plugin volumebinding.
 */
export const isNoRoomMessage = (message: string): boolean =>
  message.includes('node(s) did not have enough free storage');
