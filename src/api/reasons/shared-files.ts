import type { ReasonEntry } from './types.ts';

/** Files in a directory that several nodes share. */
export const SHARED_FILES = {
  SharedMountMissing: {
    message:
      '{directory} is on no mount that the node lists: wanted is an NFS 4 mount with the options rw, hard and local_lock=none',
    action: 'Mount it so on the node; docs/shared-directories.md says why.',
  },
  SharedMountUnfit: {
    message:
      '{directory} is on {mountPoint}, which is [of type {type}][mounted {option}]: wanted is an NFS 4 mount with the options rw, hard and local_lock=none',
    action: 'Mount it so on the node; docs/shared-directories.md says why.',
  },
  FileHeld: {
    message: '{file} is held by node {node}[ since {since}]',
    action:
      'It is let go of there first, for which {directory} must be mounted there, too. If {node} is off and does not come back, say so by the out-of-service taint on its Node. Where it has none any more: make a Node of that name, with that taint.',
  },
  FileRead: {
    message: '{file} is read on node {node}',
    action:
      'It can be written to once it is attached nowhere any more. If {node} is off and does not come back, say so by the out-of-service taint on its Node.',
  },
  OwnerUnreadable: {
    message:
      '{path} does not say who has {file}: it was damaged, or another version of Stowage wrote it',
    action:
      'Until that is known, some node may have it attached. Once losetup -a of no node lists it, remove {path}',
  },
  LoopNotHeld: {
    message: '{devices} on node {node} has {file}, which is not held for that node',
    action:
      'What is written through it may destroy what another node writes. See that nothing uses it, then: {command}',
  },
  FileHeldWithoutDevice: {
    message: 'no device has {file}, but it is still held for this node',
  },
  NodeStartedAnew: {
    message: 'node {node} was started anew since it was looked at',
  },
  OwnerFileChanged: {
    message: '{path} is not what it was',
  },
  FileTakenOver: {
    message: '{file} was taken over',
  },
  FileTakenByAnother: {
    message:
      "someone else takes {file}, too, or a file beside it has a name like an owner file's and is none: look at {file}.owner.* there",
  },
  FileReadByAnother: {
    message:
      "a node began to read {file}, or a file beside it has a name like a reader's mark and is none: look at {file}.reader.* there",
  },
  ReaderMarkGone: {
    message: '{path} is gone',
  },
  AdoptedFileHeld: {
    message: '{file} is held by node {node}[ since {since}]',
    action:
      'What a node may have attached is not adopted. See with losetup -a on {node} that it is not, or that its machine is off and does not come back; then remove {file}.owner.* there.',
  },
  AdoptedFileRead: {
    message: '{file} is read on node {node}',
    action:
      'What a node may have attached is not adopted. See with losetup -a on {node} that it is not, or that its machine is off and does not come back; then remove {path}.',
  },
  AdoptedFileOwnerUnreadable: {
    message:
      '{path} does not say who has {file}: it was damaged, or another version of Stowage wrote it',
    action:
      'Until that is known, some node may have it attached. Once losetup -a of no node lists it, remove {file}.owner.* there.',
  },
  AdoptedFileNameReturned: {
    message: 'there is a file {name} again',
  },
} as const satisfies Record<string, ReasonEntry>;
