import type { ReasonEntry } from './types.ts';

/** Devices that are attached to nodes and detached from them, for pods. */
export const ATTACHMENTS = {
  VolumeOfPodGone: {
    message: 'The Volume of this PersistentVolume is gone: delete the pod',
    cause: 'VolumeMissing',
  },
  VolumeNotMade: {
    message:
      'Volume {volume} is not there to be attached: it was not made yet, or is being deleted',
  },
  NodeNotAllowed: {
    message:
      'Volume {volume} can be attached to {nodes} alone, and not to {node}: run the pod there',
    cause: 'WrongNode',
  },
  NodeObjectMissing: {
    message: 'There is no Node {node} to attach Volume {volume} to',
  },
  NodeOutOfService: {
    message:
      'Volume {volume} is not attached to Node {node}, which has the taint node.kubernetes.io/out-of-service and is not Ready: take the taint off once it is back',
    cause: 'NodeOutOfService',
  },
  MultiAttach: {
    message:
      'Multi-Attach error for volume "{volume}" Volume is already {use}: node {node} has it ({state})',
    cause: 'MultiAttach',
  },
  MultiAttachNodeNotReady: {
    message:
      'Multi-Attach error for volume "{volume}" Volume is already {use}: node {node} has it ({state}), and is not Ready, so that it may still write: once it is off, say so by the taint node.kubernetes.io/out-of-service on it',
    cause: 'NodeNotReady',
  },
  MultiAttachNodeAway: {
    message:
      'Multi-Attach error for volume "{volume}" Volume is already {use}: node {node} has it ({state}), and {how}[, and its {left} are not deleted]',
    cause: 'NodeNotReady',
  },
  MultiAttachUncertain: {
    message:
      'Multi-Attach error for volume "{volume}" Volume is already {use}: node {node} has it ({state}), whether it still has is found out by a look at it',
    cause: 'AttachmentUncertain',
  },
  MultiAttachPaused: {
    message:
      'Multi-Attach error for volume "{volume}" Volume is already {use}: node {node} has it ({state}), and is kept from letting go by the annotation stowage.dev/paused of {paused}',
    cause: 'MultiAttach',
  },
  AttachPaused: {
    message:
      'Volume {volume} is to be attached to {node}, but the annotation stowage.dev/paused of {paused} keeps that from being done: take it off',
    cause: 'Paused',
  },
  DetachPaused: {
    message:
      '{what} is to be detached from {node}, but the annotation stowage.dev/paused of {paused} keeps that from being done: take it off',
    cause: 'Paused',
  },
  OperationPaused: {
    message: 'the annotation of {kind} {name} keeps all work from being done',
    cause: 'Paused',
  },
  OperationQueued: {
    message: 'waits until others have ended',
    cause: 'JobRunning',
  },
  OperationUnderWay: {
    message: 'its job is under way: {step}',
    cause: 'JobRunning',
  },
  JobStillRuns: {
    message: 'a job of this Volume still runs on node {node}',
  },
  JobForgotten: {
    message: 'the node lost the job: it was restarted',
  },
  StillAttached: {
    message: 'it is still attached',
  },
  VolumeGone: {
    message: 'the Volume {volume} is gone',
  },
  VolumeBeingDeleted: {
    message: 'the Volume {volume} is being deleted',
  },
  AttachNotRecorded: {
    message: 'that it is being attached could not be written down: {error}',
  },
  AttachRecordContended: {
    message:
      'that it is being attached could not be written down: others wrote the Volume each time',
  },
  LetGoMeanwhile: {
    message: 'its attachment to node {node} was removed meanwhile',
  },
  NodeGone: {
    message:
      'there is no Node {node} any more, and the machine may still write: once it is off, say so by the taint node.kubernetes.io/out-of-service on a Node of that name that you make',
  },
  ForceDetachedOutOfService: {
    message:
      'Node {node} has the taint node.kubernetes.io/out-of-service: {what} is treated as detached there, without a look at the node. It is verified when the node is back',
  },
  ForceDetachedNodeGone: {
    message:
      'There is no Node {node} any more: {what} is treated as detached there, without a look at the node. It is verified when the node is back',
  },
  ForceDetachedNotReady: {
    message:
      'Node {node} has not been Ready for {seconds} s: {what} is treated as detached there, without a look at the node. It is verified when the node is back',
  },
} as const satisfies Record<string, ReasonEntry>;
