import { type Mutation, mutationsOf } from './mutation.ts';

/** An attach or detach on a node, its record and its outcome. */
export const attachOperations: readonly Mutation[] = [
  ...mutationsOf('src/storage/loopfile/driver.ts', [
    {
      id: 'autoclear-counts-as-detached',
      invariant: 3,
      breaks: 'A loop device with AUTOCLEAR counts as detached.',
      function: 'presence',
      find: 'if (loop.autoclear)',
      replace: "if (loop.autoclear) return { is: 'detached' };\n  if (loop.autoclear)",
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/attacher-detacher.ts', [
    {
      id: 'detach-without-use-check',
      invariant: 3,
      breaks: 'A volume is detached without a look at what uses it.',
      function: 'createAttacherDetacher.detach',
      find: 'await whatUses(context, observed)',
      replace: 'undefined',
    },
    {
      id: 'unanswered-use-check-passes',
      invariant: 3,
      breaks: 'A volume counts as unused where the node does not answer what uses it.',
      function: 'whatUses',
      find: ', useUnseen',
      replace: ', () => undefined',
    },
    {
      id: 'detach-not-read-back',
      invariant: 3,
      breaks: 'A detach that exits with 0 counts as done, though losetup leaves a busy device.',
      function: 'createAttacherDetacher.detach',
      find: "seen = end.state === 'succeeded' ? end.seen : undefined;",
      replace: "if (end.state === 'succeeded') return { is: 'detached' };\n      seen = undefined;",
    },
    {
      id: 'attach-over-living-holder',
      invariant: 2,
      breaks: 'A shared file is taken from a node that nobody vouches to be off.',
      function: 'takeOverFromDeadNodes',
      find: 'deps.isOff',
      replace: 'async () => true',
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/apply-outcome.ts', [
    {
      id: 'unknown-attach-counts-as-detached',
      invariant: 2,
      breaks: 'An attach whose end is unknown counts as never begun.',
      function: 'applyOutcome',
      find: "kind === 'attach' && was === undefined && outcome.nothingDone",
      replace: "kind === 'attach'",
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/operation-executor.ts', [
    {
      id: 'attach-before-record',
      invariant: 2,
      breaks: 'A shared volume is attached though its record could not be written.',
      function: 'createOperationExecutor.carryOut',
      find: 'await deps.statusUpdater.beforeAttach(known)',
      replace: 'void deps.statusUpdater.beforeAttach(known)',
    },
    {
      id: 'operation-by-stale-cache',
      invariant: 6,
      breaks: 'A deleted or paused Volume is attached by a cache that is behind the API server.',
      function: 'createOperationExecutor.carryOut',
      find: 'await deps.statusUpdater.precheck(known, operation)',
      replace: 'undefined',
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/status-updater.ts', [
    {
      id: 'record-on-recreated-persistent-volume',
      invariant: 6,
      breaks: 'The record of a Volume is written to another PersistentVolume of the name.',
      function: 'createStatusUpdater.writePersistentVolume',
      find: 'uid: pv.metadata.uid, ',
      replace: '',
    },
    {
      id: 'deleted-volume-attached',
      invariant: 6,
      breaks: 'A Volume that is being deleted is attached once more.',
      function: 'createStatusUpdater.precheck',
      find: 'volume?.metadata.deletionTimestamp !== undefined',
      replace: 'false',
    },
    {
      id: 'record-on-foreign-persistent-volume',
      invariant: 12,
      breaks: 'The record is written to a PersistentVolume that only has the name of the Volume.',
      function: 'writePersistentVolume',
      find: ' || !isPvOf(pv, volume)',
      replace: '',
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/pod-volumes.ts', [
    {
      id: 'claim-believed-without-claim-ref',
      invariant: 10,
      breaks: 'A claim that names a foreign PersistentVolume uses its Volume.',
      function: 'behindClaim',
      find: ' || uid !== claim?.metadata.uid',
      replace: '',
    },
    {
      id: 'ephemeral-claim-by-name',
      invariant: 10,
      breaks: "A claim of an ephemeral volume's name counts as the pod's own.",
      function: 'volumesBehind',
      find: 'return owned ?',
      replace: 'return owned || made ?',
    },
    {
      id: 'terminating-pod-ignored',
      invariant: 3,
      breaks: 'A pod that is being deleted and still runs does not hold its volumes.',
      function: 'isCounted',
      find: ' || isRunning(status)',
      replace: '',
    },
  ]),
];
