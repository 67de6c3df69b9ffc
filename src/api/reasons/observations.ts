import type { ReasonEntry } from './types.ts';

/** Answers of a node that permit no safe conclusion. */
export const OBSERVATIONS = {
  ProbeUnanswered: {
    message: 'no answer for {probe}',
    cause: 'NodeUnclear',
  },
  ProbeToolMissing: {
    message: 'the node lacks a tool: {said}',
    action: 'Install it on the node.',
    cause: 'ToolMissing',
  },
  ProbeFailed: {
    message: 'reading {probe} failed with status {exit}: {said}',
    cause: 'NodeUnclear',
  },
  OutputNotUnderstood: {
    message: '{program} printed what is not understood: {said}',
    cause: 'NodeUnclear',
  },
  RecordDamaged: {
    message: '{record} is damaged: {text}',
    cause: 'NodeUnclear',
  },
  RecordOfAnotherDamaged: {
    message: '{record} is damaged ({text}), so it is not known which device that Volume has',
    action: 'Restore it; or remove it, if that Volume is gone.',
    cause: 'NodeUnclear',
  },
  MountNotListed: {
    message: 'no mount of {folder} is listed',
    cause: 'NodeUnclear',
  },
  FoldersMissing: {
    message: 'neither {folder} nor a folder above it is there',
    cause: 'NodeUnclear',
  },
  LVMFiltersUnread: {
    message: 'LVM does not tell its filters: {said}',
    cause: 'NodeUnclear',
  },
  FreeExtentsUnread: {
    message: "what is in free extents of {device} can't be told: {said}",
    cause: 'NodeUnclear',
  },
} as const satisfies Record<string, ReasonEntry>;
