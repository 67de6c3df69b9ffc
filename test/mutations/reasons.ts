import { type Mutation, mutationsOf } from './mutation.ts';

/** Reasons: writing, transport and reading. */
export const reasons: readonly Mutation[] = [
  ...mutationsOf('src/api/reasons.ts', [
    {
      id: 'reason-of-any-length',
      invariant: 11,
      breaks: 'A reason is written that no version reads.',
      function: 'bounded',
      find: 'text.slice(0, longest)',
      replace: 'text',
    },
    {
      id: 'foreign-parameter-trusted',
      invariant: 7,
      breaks: 'A parameter that is no text is handed to those who read reasons.',
      function: 'readReason',
      find: 'all.every(isText)',
      replace: 'true',
    },
  ]),
  ...mutationsOf('src/nodes/scripts/job.sh', [
    {
      id: 'reason-not-kept',
      invariant: 11,
      breaks: 'A job that was refused midway keeps no reason.',
      function: 'precondition()',
      find: 'printf \'%s\' "$reason" >reason',
      replace: ':',
    },
  ]),
  ...mutationsOf('src/nodes/failure-reason.ts', [
    {
      id: 'any-word-is-a-program',
      invariant: 7,
      breaks: 'A node prints what is taken for the name of a program.',
      function: 'MISSING',
      find: '[A-Za-z0-9._+-]{1,64}',
      replace: '.*',
    },
  ]),
  ...mutationsOf('src/nodes/public-text.ts', [
    {
      id: 'paths-in-parameters',
      invariant: 8,
      breaks: 'Parameters tell paths of a node to the owners of claims.',
      function: 'withoutPathsIn',
      find: 'withoutPaths(text, known)',
      replace: 'text',
    },
  ]),
  ...mutationsOf('src/controllers/volume/job-retry.ts', [
    {
      id: 'attempt-not-told',
      invariant: 11,
      breaks: 'A reason does not tell of which attempt it is.',
      function: 'reasonOfAttempt',
      find: '...ended.parameters',
      replace: '',
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/actual-state.ts', [
    {
      id: 'old-reason-beside-new-message',
      invariant: 11,
      breaks: 'The reason of an earlier message stays beside a new one.',
      function: 'change',
      find: "...('message' in to && { detail: undefined }), ",
      replace: '',
    },
  ]),
  ...mutationsOf('src/cli/why/snapshot/diagnose.ts', [
    {
      id: 'foreign-event-advises',
      invariant: 7,
      breaks: 'Who may write events in a namespace has commands printed to an administrator.',
      function: 'eventObstruction',
      find: 'fix: isPlain ? { say: action } : undefined',
      replace: 'fix: found.fix',
    },
  ]),
  ...mutationsOf('src/cli/why/claim/event.ts', [
    {
      id: 'foreign-event-trusted',
      invariant: 8,
      breaks: 'An event of anybody names the cause.',
      function: 'reasonIn',
      find: 'isOwn(event)',
      replace: 'true',
    },
  ]),
];
