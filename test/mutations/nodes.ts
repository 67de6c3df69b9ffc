import { type Mutation, mutationsOf } from './mutation.ts';

/** Connections to nodes, and parsing of their responses. */
export const nodes: readonly Mutation[] = [
  ...mutationsOf('src/nodes/quote.ts', [
    {
      id: 'quote-left-open',
      invariant: 7,
      breaks: 'A quote in a string ends its argument.',
      function: 'quote',
      find: '.replaceAll("\'", "\'\\\\\'\'")',
      replace: '',
    },
    {
      id: 'nul-in-argument',
      invariant: 7,
      breaks: 'An argument that holds NUL is cut off there.',
      function: 'quote',
      find: "argument.includes('\\0')",
      replace: 'false',
    },
  ]),
  ...mutationsOf('src/nodes/transport/ssh-options.ts', [
    {
      id: 'host-key-accepted',
      invariant: 8,
      breaks: 'ssh accepts an unknown host key.',
      function: 'FIXED_OPTIONS',
      find: 'StrictHostKeyChecking=yes',
      replace: 'StrictHostKeyChecking=accept-new',
    },
    {
      id: 'host-key-of-address',
      invariant: 8,
      breaks: 'A host key is checked under the address of the node, not its name.',
      function: 'sshArguments',
      find: `\`HostKeyAlias=\${node}\``,
      replace: "'HostKeyAlias=none'",
    },
    {
      id: 'connection-of-another-node',
      invariant: 8,
      breaks:
        'Two nodes at one address share a connection, whose host key was checked for one of them.',
      function: 'sshArguments',
      find: 'socketName(node)',
      replace: "socketName('')",
      integration: ['ssh-connection.test.ts'],
    },
  ]),
  ...mutationsOf('src/nodes/transport/control-directory.ts', [
    {
      id: 'foreign-control-socket',
      invariant: 8,
      breaks: 'The sockets of shared connections lie in a directory of another user.',
      function: 'makeOwn',
      find: ' || found.uid !== uid',
      replace: '',
    },
  ]),
  ...mutationsOf('src/nodes/answer-limit.ts', [
    {
      id: 'answer-without-end',
      invariant: 12,
      breaks: 'A node that answers without end takes the memory of the daemon.',
      function: 'endOf',
      find: "() => program.kill('SIGKILL')",
      replace: '() => {}',
    },
  ]),
  ...mutationsOf('src/nodes/protocol.ts', [
    {
      id: 'running-job-purged',
      invariant: 10,
      breaks: 'The jobs of a subject are removed while a program of one runs.',
      function: 'purgeScript',
      find: '&& idle ',
      replace: '',
    },
  ]),
  ...mutationsOf('src/nodes/answer.ts', [
    {
      id: 'answer-of-any-number-of-lines',
      invariant: 12,
      breaks: 'An answer of millions of lines is taken apart before it is refused.',
      function: 'readRecords',
      find: 'if (records.length === most)',
      replace: 'if (false)',
    },
    {
      id: 'cut-off-answer-read',
      invariant: 12,
      breaks: 'An answer that was cut off counts as whole.',
      function: 'readRecords',
      find: "throw new RangeError('the answer was cut off');",
      replace: '',
    },
    {
      id: 'text-of-another-length-read',
      invariant: 12,
      breaks: 'A text of a node ends where it says, though another follows there.',
      function: 'readRecords.text',
      find: "at > end || answer[at - 1] !== '\\n'",
      replace: 'false',
    },
  ]),
  ...mutationsOf('src/nodes/scripts/poll.sh', [
    {
      id: 'dead-job-runs',
      invariant: 11,
      breaks: 'A job whose processes are gone counts as running for ever.',
      function: 'state()',
      find: 'line=died',
      replace: 'line=running ended=',
    },
  ]),
  ...mutationsOf('src/nodes/jobs-directory.ts', [
    {
      id: 'foreign-jobs-read',
      invariant: 12,
      breaks: 'The results of jobs are read from a directory of another user.',
      function: 'ownJobs',
      find: ' || [ ! -O "$jobs" ]',
      replace: '',
    },
    {
      id: 'job-path-escapes',
      invariant: 7,
      breaks: 'The name of a job leads out of the directory of jobs.',
      function: 'plainName',
      find: '!NAME.test(name)',
      replace: 'false',
    },
  ]),
  ...mutationsOf('src/nodes/transport/shell-executor.ts', [
    {
      id: 'round-trip-without-deadline',
      invariant: 11,
      breaks: 'A round trip to a node has no deadline.',
      function: 'createShellExecutor.ask',
      find: 'waitMs + ROUND_TRIP',
      replace: '0',
    },
  ]),
  ...mutationsOf('src/nodes/job-text.ts', [
    {
      id: 'output-of-step-swallowed',
      invariant: 11,
      breaks: 'The failure of a step does not report what its command printed.',
      function: 'describeFailure',
      find: "state.output.replace(MISSING, '').trim() || 'it printed nothing'",
      replace: "'it failed'",
    },
  ]),
];
