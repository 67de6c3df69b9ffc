import { commandLine, onNode } from '../lib/command-line.ts';
import type { Reason } from './reasons.ts';
import type { Fix } from './types.ts';

/** What stands between the daemon and a node, and what ends it. */
export interface Obstruction {
  cause: Reason;
  fix: Fix;
}

type Row = [
  pattern: RegExp,
  of: (node: string, found: RegExpExecArray, message: string) => Obstruction,
];

/** By the words of nodes/transport/ssh-failure.ts, nodes/sudo.ts and nodes/transport/salt/failures.ts, to which a test holds these. */
const ROWS: readonly Row[] = [
  [
    /its host key is another than the known one/,
    (node, _, message) => hostKeyChanged(node, message),
  ],
  [
    /its host key is not known/,
    (node) => ({
      cause: 'HostKeyUnknown',
      fix: {
        say: `Have node ${node} print the fingerprint of its key at its console (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), and add the key if the host shows that one:`,
        run: [
          `${commandLine('stowage', 'check', 'node', node, '--trust-host-key')} SHA256:FINGERPRINT`,
        ],
      },
    }),
  ],
  [
    /sudo does not let user (\S+) run (?:it|')/,
    (node, [, user = '']) => ({ cause: 'SudoRefused', fix: allowSudo(node, user) }),
  ],
  [
    /Stowage's Salt module on minion (\S+) (?:is missing|cannot be loaded)/,
    (_, [, minion = '']) => ({ cause: 'SaltModuleMissing', fix: syncModules(minion) }),
  ],
  [
    /Stowage's Salt module on minion (\S+) is another version/,
    (_, [, minion = '']) => ({ cause: 'SaltModuleOld', fix: syncModules(minion) }),
  ],
  [
    /refuses: version \S+? Copy salt\/ of this Stowage to the salt-master, then: salt (\S+) saltutil/,
    (_, [, minion = '']) => ({ cause: 'SaltModuleOld', fix: syncModules(minion) }),
  ],
  [
    /minion (\S+) does not answer the salt-master/,
    (node, [, minion = '']) => ({
      cause: 'MinionDown',
      fix: {
        say: 'Start salt-minion on the node. It answers, as the salt-master sees it, when the second command says True.',
        run: [
          onNode(node, 'systemctl', 'start', 'salt-minion'),
          commandLine('salt', minion, 'test.ping'),
        ],
      },
    }),
  ],
  [
    /the salt-master knows no minion (\S+?)(?:\. |$)/,
    (_, [, minion = '']) => ({
      cause: 'MinionUnknown',
      fix: {
        say: `Accept the key of the minion on the salt-master, once it is known to be its own; if it has another id, say so by the annotation stowage.dev/salt-minion of its Node.`,
        run: ['salt-key -l all', commandLine('salt-key', '-a', minion)],
      },
    }),
  ],
  [
    /salt-api at \S+ does not log |Salt does not let \S+ run /,
    () => ({
      cause: 'SaltLoginRefused',
      fix: {
        say: 'Put right what the message names: the secret, or external_auth of the salt-master.',
      },
    }),
  ],
  [
    /is not reached: salt-api at /,
    () => ({
      cause: 'SaltUnreachable',
      fix: {
        say: 'Have salt-master and salt-api run.',
        run: ['systemctl start salt-master salt-api'],
      },
    }),
  ],
  [
    /Permission denied/,
    (node) => ({
      cause: 'LoginRefused',
      fix: {
        say: 'The user that stowage watch runs as must get in without a question: put its key among the authorized_keys of the node.',
        run: [onNode(node, 'true')],
      },
    }),
  ],
];

/** What is wrong on the way to a node, by what was said of it; undefined: it does not answer, or that is not known. Pure. */
export function obstruction(node: string, message: string): Obstruction | undefined {
  for (const [pattern, of] of ROWS) {
    const found = pattern.exec(message);
    if (found !== null) return of(node, found, message);
  }
  return undefined;
}

/** A key that is shown is one to be checked, not to be trusted: whoever stands between shows one, too. */
function hostKeyChanged(node: string, message: string): Obstruction {
  const [, shown] = /\b(SHA256:[A-Za-z0-9+/=]+)/.exec(message) ?? [];
  const [, file] = /remove the old key \((.+):\d+\): ssh-keygen/.exec(message) ?? [];
  return {
    cause: 'HostKeyChanged',
    fix: {
      say: `Only if node ${node} was installed anew, and prints this very fingerprint at its console (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub): remove the key that was known, and add the new one.`,
      run: [
        commandLine('ssh-keygen', '-R', node, ...(file === undefined ? [] : ['-f', file])),
        shown === undefined
          ? `${commandLine('stowage', 'check', 'node', node, '--trust-host-key')} SHA256:FINGERPRINT`
          : commandLine('stowage', 'check', 'node', node, '--trust-host-key', shown),
      ],
    },
  };
}

function allowSudo(node: string, user: string): Fix {
  const say = `Let user ${user} run what Stowage runs, without a password. Name the folders, volume groups and disks of the node (stowage print sudoers --help).`;
  // The node says who it is.
  if (!/^[a-z_][a-z0-9_-]*$/.test(user)) return { say };
  // sudo reads no file with a dot in its name: what it reads is whole, and there at any time.
  const [next, file] = ['/etc/sudoers.d/stowage.new', '/etc/sudoers.d/stowage'];
  const put = `install -m 0440 /dev/stdin ${next} && visudo -cf ${next} && mv ${next} ${file}`;
  return {
    say,
    run: [
      `${commandLine('stowage', 'print', 'sudoers', '--user', user)} | ${commandLine('ssh', `root@${node}`, put)}`,
    ],
  };
}

const syncModules = (minion: string): Fix => ({
  say: 'On the salt-master, with salt/ of this Stowage in its file_roots:',
  run: [commandLine('salt', minion, 'saltutil.sync_modules')],
});
