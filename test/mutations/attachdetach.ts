import { type Mutation, mutationsOf } from './mutation.ts';

/** Attaching and detaching: mostly invariants 2 and 3. */
export const attachdetach: readonly Mutation[] = [
  ...mutationsOf('src/controllers/attachdetach/attach-refusals.ts', [
    {
      id: 'uncertain-counts-as-detached',
      invariant: 2,
      breaks: 'An uncertain attachment does not keep the volume from another node.',
      function: 'holderOf',
      find: 'entry.node !== node)',
      replace: "entry.node !== node && entry.state !== 'Uncertain')",
    },
    {
      id: 'reader-joins-writer',
      invariant: 2,
      breaks: 'A read-only volume is attached beside a node that has it writable.',
      function: 'holderOf',
      find: '!volume.readOnly || !readOnly',
      replace: '!volume.readOnly && !readOnly',
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/next-operation.ts', [
    {
      id: 'record-believed-unverified',
      invariant: 2,
      breaks: 'What is recorded of a node counts before the node is verified.',
      function: 'isUncertain',
      find: ' || view.unverifiedNodes.has(node)',
      replace: '',
    },
    {
      id: 'untrusted-status-acted-on',
      invariant: 12,
      breaks: 'A status that somebody else wrote starts operations on the nodes that it names.',
      function: 'nextOperation',
      find: 'view.problem !== undefined',
      replace: 'false',
    },
    {
      id: 'paused-node-detaches',
      invariant: 8,
      breaks: 'The pause annotation does not keep a volume from being detached.',
      function: 'detachesOf',
      find: 'view.nodeFacts(node).paused === undefined',
      replace: 'true',
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/force-detach.ts', [
    {
      id: 'shared-volume-not-fenced',
      invariant: 2,
      breaks:
        'A writable shared volume is force-detached from a silent node without the out-of-service taint.',
      function: 'deathRuleOf',
      find: 'requiresFencing: requiresFencing(volume)',
      replace: 'requiresFencing: false',
    },
    {
      id: 'force-detach-with-pods',
      invariant: 3,
      breaks: 'A volume is force-detached from a NotReady node while pods use it there.',
      function: 'verdictOn',
      find: 'entry.pods.length > 0 || ',
      replace: '',
    },
    {
      id: 'force-detach-before-deadline',
      invariant: 3,
      breaks: 'A volume is force-detached before the timeout has passed.',
      function: 'deathRuleOf',
      find: 'volume?.maxWaitForUnmountMs ?? Infinity',
      replace: '0',
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/not-ready-times.ts', [
    {
      id: 'wait-by-the-clock-of-another-machine',
      invariant: 3,
      breaks: 'A clock that is behind makes a node count as NotReady for long.',
      function: 'createNotReadyTimes.transitionOf',
      find: 'at: clock.now()',
      replace: "at: Date.parse(recorded ?? '')",
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/force-detach-actions.ts', [
    {
      id: 'force-detach-not-recorded',
      invariant: 3,
      breaks: 'A forced detach emits no event.',
      function: 'createForceDetach.report',
      find: "events.event(known.volume, 'Warning', EVENT.forcedDetach, message, detail);",
      replace: '',
    },
    {
      id: 'force-detach-by-cache',
      invariant: 3,
      breaks: 'A node counts as dead by a cache that is behind the API server.',
      function: 'areStillGone',
      find: 'if (JSON.stringify(before) !== JSON.stringify(after)) same = false;',
      replace: '',
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/max-wait.ts', [
    {
      id: 'unreadable-timeout-is-default',
      invariant: 3,
      breaks:
        'An unreadable timeout of a storage class lets a volume be force-detached by the default.',
      function: 'maxWaitOf',
      find: '?? Infinity',
      replace: '?? fallback',
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/mark-uncertain.ts', [
    {
      id: 'reboot-keeps-attachment',
      invariant: 2,
      breaks: 'A volume still counts as attached after its node has booted.',
      function: 'markUncertain',
      find: 'before.boot !== incarnation.boot || ',
      replace: '',
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/restore-state.ts', [
    {
      id: 'record-of-foreign-node',
      invariant: 12,
      breaks: 'A recorded node that can never have the volume keeps it from its own nodes.',
      function: 'restoreState',
      find: 'recorded.filter(({ node }) => canHaveIt.has(node))',
      replace: 'recorded',
    },
    {
      id: 'record-of-foreign-persistent-volume',
      invariant: 12,
      breaks: 'The annotation of a PersistentVolume counts that only has the name of the Volume.',
      function: 'restoreState',
      find: 'pv !== undefined && isPvOf(pv, volume)',
      replace: 'pv !== undefined',
    },
  ]),
];
