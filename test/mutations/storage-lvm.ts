import { type Mutation, mutationsOf } from './mutation.ts';

/** Logical volumes: whose they are, and when they are removed. */
export const storageLvm: readonly Mutation[] = [
  ...mutationsOf('src/storage/lvm/own.ts', [
    {
      id: 'named-logical-volume-is-ours',
      invariant: 1,
      breaks: 'A logical volume that only has the name counts as that of the Volume.',
      function: 'whose',
      find: "'not ours' : 'named'",
      replace: "'not ours' : 'ours'",
    },
    {
      id: 'copied-tag-believed',
      invariant: 12,
      breaks: 'One of several logical volumes with the tag counts as that of the Volume.',
      function: 'refuseTags',
      find: 'tagged.length > 1',
      replace: 'tagged.length > 9',
    },
  ]),
  ...mutationsOf('src/storage/lvm/refuse.ts', [
    {
      id: 'extents-overwritten',
      invariant: 1,
      breaks: 'Signatures in free extents are overwritten by a consent that names something else.',
      function: 'refuseContent',
      find: 'content === desired.overwrite',
      replace: 'desired.overwrite !== undefined',
    },
    {
      id: 'ambivalent-extents-overwritten',
      invariant: 1,
      breaks: 'Free extents with more than one signature are overwritten.',
      function: 'refuseContent',
      find: 'if (isAmbivalent(free)) return ambivalence(desired, free);',
      replace: '',
    },
    {
      id: 'full-pool-written',
      invariant: 12,
      breaks: 'A thin pool without room takes one more volume, and all of its volumes lose writes.',
      function: 'refuseWrites',
      find: 'fullnessOf(pool) > fullest(pool, needed)',
      replace: 'fullnessOf(pool) > 200',
    },
  ]),
  ...mutationsOf('src/storage/lvm/remove.ts', [
    {
      id: 'lvremove-by-name',
      invariant: 6,
      breaks: 'A logical volume that took the name is removed.',
      function: 'lvremove',
      find: `lv_uuid=\${own.uuid}&&`,
      replace: '',
    },
    {
      id: 'lvremove-believed',
      invariant: 6,
      breaks: 'The records go though lvremove left the logical volume.',
      function: 'isGone',
      find: "stdout: { has: '', lacks: own.uuid }",
      replace: "stdout: { has: '', lacks: '?' }",
    },
  ]),
  ...mutationsOf('src/storage/lvm/destroy.ts', [
    {
      id: 'retained-logical-volume-removed',
      invariant: 6,
      breaks: 'A logical volume that is to be retained is removed.',
      function: 'planDestroy',
      find: "desired.onDelete === 'Retain'",
      replace: "desired.onDelete === 'Retain' && !made",
    },
    {
      id: 'origin-of-snapshots-removed',
      invariant: 6,
      breaks: 'A logical volume is removed together with its snapshots.',
      function: 'planDestroy',
      find: '!ALONE.includes(own.kind)',
      replace: 'false',
    },
    {
      id: 'logical-volume-in-use-removed',
      invariant: 3,
      breaks: 'A logical volume in use is deactivated.',
      function: 'remove',
      find: 'if (use !== undefined) {',
      replace: "if (user === '') {",
    },
  ]),
  ...mutationsOf('src/storage/lvm/grow.ts', [
    {
      id: 'extents-not-looked-into-again',
      invariant: 1,
      breaks: 'A logical volume grows into extents that got data since they were observed.',
      function: 'extend',
      find: ', ...sameContentGuards(free)',
      replace: '',
    },
  ]),
];
