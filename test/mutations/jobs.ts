import { type Mutation, mutationsOf } from './mutation.ts';

/** The script of a job on its node, and the preconditions of its steps. */
export const jobs: readonly Mutation[] = [
  ...mutationsOf('src/nodes/job-script.ts', [
    {
      id: 'guards-not-checked',
      invariant: 1,
      breaks: 'A step runs without its preconditions.',
      function: 'renderStep',
      find: '...step.preconditions.map(renderPrecondition),',
      replace: '',
    },
    {
      id: 'disk-lock-not-held',
      invariant: 1,
      breaks: 'A destructive step does not hold the lock of its disk.',
      function: 'renderStep',
      find: `[\`lock \${failure} \${quote(step.lock)}\`]`,
      replace: '[]',
      integration: ['disk-lock.test.ts'],
    },
  ]),
  ...mutationsOf('src/nodes/scripts/job.sh', [
    {
      id: 'guard-ignores-lacks',
      invariant: 1,
      breaks: 'A precondition passes though the output has what it must lack.',
      function: 'precondition()',
      find: 'case $out in *"$lacks"*) holds=no ;; esac',
      replace: ':',
    },
    {
      id: 'job-lock-not-held',
      invariant: 10,
      breaks: 'Two jobs of one subject run at the same time.',
      function: 'start()',
      find: 'flock 8\n',
      replace: '',
    },
    {
      id: 'orphaned-program-not-awaited',
      invariant: 10,
      breaks: 'A job begins while a program of an earlier one, whose shell was killed, still runs.',
      function: 'start()',
      find: `|| flock -s "\${other%step}output" true`,
      replace: '|| true',
    },
    {
      id: 'signal-counts-as-failure',
      invariant: 11,
      breaks: 'A program that was killed by a shutdown counts as failed.',
      function: 'run()',
      find: 'on_failure=raced',
      replace: ':',
    },
  ]),
  ...mutationsOf('src/nodes/next-step.ts', [
    {
      id: 'job-end-believed',
      invariant: 9,
      breaks: 'A job that ended with 0 makes the volume ready though steps remain.',
      function: 'nextStep',
      find: "if (planned.steps.length === 0) return { is: 'done', plan: planned };",
      replace:
        "if (planned.steps.length === 0 || state.state === 'succeeded') return { is: 'done', plan: planned };",
    },
  ]),
  ...mutationsOf('src/nodes/job-runner.ts', [
    {
      id: 'ensured-by-stale-cache',
      invariant: 10,
      breaks: 'A snapshot or backup is made for an object that changed since it was decided on.',
      function: 'createJobRunner.ensure',
      find: 'if (!(await work.isCurrent())) return undefined;',
      replace: '',
    },
    {
      id: 'failed-job-forgotten',
      invariant: 11,
      breaks: 'A job that failed is forgotten as if it had done all, and no failure is seen.',
      function: 'createJobRunner.ensure',
      find: "if (judged.is === 'done') {",
      replace: "if (judged.is !== 'refused') {",
    },
  ]),
  ...mutationsOf('src/nodes/check-preconditions.ts', [
    {
      id: 'killed-guard-passes',
      invariant: 3,
      breaks: 'A precondition that was ended for hanging counts as answered.',
      function: 'checkPreconditions',
      find: '!ENDED_ITSELF.includes(result?.exit ?? -1)',
      replace: 'false',
    },
    {
      id: 'guard-ignores-exit-status',
      invariant: 1,
      breaks: 'A precondition passes whatever exit status its command has.',
      function: 'holds',
      find: 'exit !== undefined && exit !== result.exit',
      replace: 'false',
    },
  ]),
];
