import { type Mutation, mutationsOf } from './mutation.ts';

/** Page of `stowage ui`: who may run an action, and with which consent. */
export const ui: readonly Mutation[] = [
  ...mutationsOf('src/cli/ui/check-request.ts', [
    {
      id: 'action-without-key',
      invariant: 6,
      breaks: 'Any program of the machine runs actions with the rights of the user.',
      function: 'checkRequest',
      find: "route.do === 'asset' || route.do === 'session'",
      replace: "route.do === 'asset' || route.do === 'session' || route.do === 'action'",
    },
    {
      id: 'action-of-another-origin',
      invariant: 6,
      breaks: 'A page of another origin runs actions.',
      function: 'checkRequest',
      find: 'origin !== undefined && origin !==',
      replace: 'host ===',
    },
    {
      id: 'action-without-origin',
      invariant: 6,
      breaks: 'A request that is not of the page runs actions.',
      function: 'checkRequest',
      find: "route.do === 'action' && origin === undefined",
      replace: 'false',
    },
  ]),
  ...mutationsOf('src/cli/ui/actions/plans.ts', [
    {
      id: 'plan-run-twice',
      invariant: 6,
      breaks: 'A double click runs an action twice.',
      function: 'createPlans',
      find: 'plans.delete(hash);',
      replace: '',
    },
    {
      id: 'plan-of-another-action',
      invariant: 6,
      breaks: 'The action that runs is not the one that the plan showed.',
      function: 'createPlans',
      find: 'isDeepStrictEqual(plan.argv, argv) ? plan : undefined',
      replace: 'plan',
    },
    {
      id: 'plan-of-another-session',
      invariant: 6,
      breaks: 'A tab runs a plan that only another one showed.',
      function: 'digest',
      find: 'key: string, id: string',
      replace: 'key: string, id: string, _: unknown = (key = id)',
    },
    {
      id: 'plan-never-too-old',
      invariant: 6,
      breaks: 'A plan of yesterday runs today.',
      function: 'createPlans',
      find: 'longestSince(at, clock) >= PLAN_MS',
      replace: 'false',
    },
  ]),
  ...mutationsOf('src/cli/ui/actions/actions.ts', [
    {
      id: 'page-consents-unasked',
      invariant: 6,
      breaks: 'An action of the page destroys data without a typed confirmation.',
      function: 'start',
      find: "found.confirm !== '' && confirm !== found.confirm",
      replace: 'false',
    },
    {
      id: 'page-consents-to-other-losses',
      invariant: 6,
      breaks: 'An action destroys more than the plan showed.',
      function: 'follow',
      find: "confirm === '' || hasAsked || !isShown",
      replace: 'false',
    },
  ]),
  ...mutationsOf('src/cli/ui/actions/writes.ts', [
    {
      id: 'run-writes-otherwise',
      invariant: 6,
      breaks: 'An action deletes another Volume of the name than its plan showed.',
      function: 'expectingWrite',
      find: '!hasWritten && effectOf(write) !== effect',
      replace: 'false',
    },
  ]),
  ...mutationsOf('src/cli/ui/actions/rehearsal.ts', [
    {
      id: 'plan-writes',
      invariant: 6,
      breaks: 'The plan of an action carries it out.',
      function: 'rehearse',
      find: 'dryRun: true',
      replace: '',
    },
  ]),
];
