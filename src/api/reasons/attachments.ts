import type { ReasonEntry } from './types.ts';

/** Devices that are attached to nodes and detached from them, for pods. */
export const ATTACHMENTS = {
  VolumeOfPodGone: {
    message: 'The Volume of this PersistentVolume no longer exists: delete the pod',
    cause: 'VolumeMissing',
  },
  VolumeNotMade: {
    message: 'Volume {volume} cannot be attached: it is not provisioned yet, or is being deleted',
  },
  NodeNotAllowed: {
    message: 'Volume {volume} cannot be attached to {node}, only to {nodes}: run the pod there',
    cause: 'WrongNode',
  },
  NodeObjectMissing: {
    message: 'Volume {volume} cannot be attached: Node {node} does not exist',
  },
  NodeOutOfService: {
    message:
      'Volume {volume} is not attached to Node {node}, which has the taint node.kubernetes.io/out-of-service and is not Ready: remove the taint once the node is back',
    cause: 'NodeOutOfService',
  },
  MultiAttach: {
    message:
      'Multi-Attach error for volume "{volume}" Volume is already {use}: node {node} has it ({state})',
    cause: 'MultiAttach',
  },
  MultiAttachNodeNotReady: {
    message:
      'Multi-Attach error for volume "{volume}" Volume is already {use}: node {node} has it ({state}), and is not Ready, so that it may still write: once the machine is off, add the taint node.kubernetes.io/out-of-service to the Node',
    cause: 'NodeNotReady',
  },
  MultiAttachNodeAway: {
    message:
      'Multi-Attach error for volume "{volume}" Volume is already {use}: node {node} has it ({state}), and {how}[, and its {left} are not deleted]',
    cause: 'NodeNotReady',
  },
  MultiAttachUncertain: {
    message:
      'Multi-Attach error for volume "{volume}" Volume is already {use}: node {node} may have it ({state}); verifying',
    cause: 'AttachmentUncertain',
  },
  MultiAttachPaused: {
    message:
      'Multi-Attach error for volume "{volume}" Volume is already {use}: node {node} has it ({state}), and is not detached while {paused} is paused (stowage resume {resume})',
    cause: 'MultiAttach',
  },
  AttachPaused: {
    message: 'Volume {volume} is not attached to node {node}: {paused} is paused',
    action: 'To resume it: stowage resume {resume}',
    cause: 'Paused',
  },
  DetachPaused: {
    message: '{what} is not detached from node {node}: {paused} is paused',
    action: 'To resume it: stowage resume {resume}',
    cause: 'Paused',
  },
  OperationPaused: {
    message: '{kind} {name} is paused',
    action: 'To resume it: stowage resume {resume}',
    cause: 'Paused',
  },
  OperationQueued: {
    message: 'waiting for other operations to end',
    cause: 'JobRunning',
  },
  OperationUnderWay: {
    message: 'its job is running: {step}',
    cause: 'JobRunning',
  },
  JobStillRuns: {
    message: 'a job of this Volume still runs on node {node}',
  },
  JobForgotten: {
    message: 'the node restarted and lost the job',
  },
  StillAttached: {
    message: 'the device is still attached',
  },
  VolumeGone: {
    message: 'Volume {volume} no longer exists',
  },
  VolumeBeingDeleted: {
    message: 'Volume {volume} is being deleted',
  },
  AttachNotRecorded: {
    message: 'cannot record the attachment: {error}',
  },
  AttachRecordContended: {
    message: 'cannot record the attachment: the Volume changed at each attempt',
  },
  LetGoMeanwhile: {
    message: 'the attachment to node {node} was removed meanwhile',
  },
  NodeGone: {
    message:
      'Node {node} no longer exists, and the machine may still write: once the machine is off, create a Node of that name with the taint node.kubernetes.io/out-of-service',
  },
  ForceDetachedOutOfService: {
    message:
      'Node {node} has the taint node.kubernetes.io/out-of-service: {what} is force-detached without verification. It is verified when the node returns',
  },
  ForceDetachedNodeGone: {
    message:
      'Node {node} no longer exists: {what} is force-detached without verification. It is verified when the node returns',
  },
  ForceDetachedNotReady: {
    message:
      'Node {node} has not been Ready for {seconds} s: {what} is force-detached without verification. It is verified when the node returns',
  },
} as const satisfies Record<string, ReasonEntry>;
