import type { ReasonEntry } from './types.ts';

/** Files in a directory that several nodes share. */
export const SHARED_FILES = {
  SharedMountMissing: {
    message:
      '{directory} is not on a mount that the node lists: it must be on an NFS 4 mount with the options rw, hard and local_lock=none',
    action: 'Mount it with these options on the node: see docs/shared-directories.md',
  },
  SharedMountUnfit: {
    message:
      '{directory} is on {mountPoint}, which is [of type {type}][mounted {option}]: it must be on an NFS 4 mount with the options rw, hard and local_lock=none',
    action: 'Mount it with these options on the node: see docs/shared-directories.md',
  },
  FileHeld: {
    message: '{file} is held by node {node}[ since {since}]',
    action:
      'Node {node} releases it first, and needs {directory} mounted for that. If {node} is off permanently, add the taint node.kubernetes.io/out-of-service to its Node. If that Node was deleted, create a Node of that name with that taint.',
  },
  FileRead: {
    message: '{file} is read on node {node}',
    action:
      'It can be written to once no node has it attached. If {node} is off permanently, add the taint node.kubernetes.io/out-of-service to its Node.',
  },
  OwnerUnreadable: {
    message:
      '{path} does not show which node has {file}: it was damaged, or another version of Stowage wrote it',
    action:
      'Some node may have the file attached. Once losetup -a of no node lists it, remove {path}',
  },
  LoopNotHeld: {
    message: '{devices} on node {node} has {file}, but the file is not held for that node',
    action:
      'Writes through it may destroy the writes of another node. Make sure that nothing uses it, then: {command}',
  },
  FileHeldWithoutDevice: {
    message: 'no device has {file}, but it is still held for this node',
  },
  NodeStartedAnew: {
    message: 'node {node} rebooted after it was observed',
  },
  OwnerFileChanged: {
    message: '{path} changed after it was observed',
  },
  FileTakenOver: {
    message: '{file} was taken over',
  },
  FileTakenByAnother: {
    message:
      'another node takes {file}, too, or a file beside it only has the name of an owner file: check {file}.owner.* there',
  },
  FileReadByAnother: {
    message:
      "a node began to read {file}, or a file beside it only has the name of a reader's mark: check {file}.reader.* there",
  },
  ReaderMarkGone: {
    message: '{path} is gone',
  },
  AdoptedFileHeld: {
    message: '{file} is held by node {node}[ since {since}]',
    action:
      'A file that a node may have attached is not adopted. Make sure that losetup -a on {node} does not list it, or that its machine is off permanently; then remove {file}.owner.* there.',
  },
  AdoptedFileRead: {
    message: '{file} is read on node {node}',
    action:
      'A file that a node may have attached is not adopted. Make sure that losetup -a on {node} does not list it, or that its machine is off permanently; then remove {path}.',
  },
  AdoptedFileOwnerUnreadable: {
    message:
      '{path} does not show which node has {file}: it was damaged, or another version of Stowage wrote it',
    action:
      'Some node may have the file attached. Once losetup -a of no node lists it, remove {file}.owner.* there.',
  },
  AdoptedFileNameReturned: {
    message: 'a file {name} exists again',
  },
} as const satisfies Record<string, ReasonEntry>;
