import type { ReasonEntry } from './types.ts';

/** Answers of a node that permit no safe conclusion. */
export const OBSERVATIONS = {
  ProbeUnanswered: {
    message: 'the answer of the node lacks {probe}',
    cause: 'NodeUnclear',
  },
  ProbeToolMissing: {
    message: 'the node lacks a tool[ of the package {package}]: {said}',
    action: 'Install it on the node.',
    cause: 'ToolMissing',
  },
  ProgramUnsupported: {
    message: "{program} does not understand '{command}', for {of}[: {said}]",
    action:
      'Make {program} of {package} the first on the PATH of the node and of sudo there. Supported are GNU programs, and uutils coreutils since 0.0.17 (dd since 0.4.0).',
    cause: 'ToolMissing',
  },
  ProbeFailed: {
    message: 'reading {probe} failed with status {exit}: {said}',
    cause: 'NodeUnclear',
  },
  OutputNotUnderstood: {
    message: 'cannot parse the output of {program}: {said}',
    cause: 'NodeUnclear',
  },
  RecordDamaged: {
    message: '{record} is damaged: {text}',
    cause: 'NodeUnclear',
  },
  RecordOfAnotherDamaged: {
    message: '{record} is damaged ({text}), so the device of that Volume is unknown',
    action: 'Restore the record, or remove it if that Volume is gone.',
    cause: 'NodeUnclear',
  },
  MountNotListed: {
    message: 'no mount of {folder} was found',
    cause: 'NodeUnclear',
  },
  FoldersMissing: {
    message: 'neither {folder} nor a parent directory of it exists',
    cause: 'NodeUnclear',
  },
  LVMFiltersUnread: {
    message: 'cannot read the filters of LVM: {said}',
    cause: 'NodeUnclear',
  },
  FreeExtentsUnread: {
    message: 'cannot read the content of free extents of {device}: {said}',
    cause: 'NodeUnclear',
  },
} as const satisfies Record<string, ReasonEntry>;
