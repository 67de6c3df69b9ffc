import type { NODES } from '../../../api/reasons/nodes.ts';
import { commandLine, onNode } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import type { Fixes } from './types.ts';

const trust = (node: string) =>
  `${commandLine('stowage', 'check', 'node', node, '--trust-host-key')} SHA256:FINGERPRINT`;

const syncModules = ({ minion = '' }: { minion?: string }): Fix => ({
  say: 'On the salt-master, with salt/ of this Stowage in its file_roots:',
  run: [commandLine('salt', minion, 'saltutil.sync_modules')],
});

const permit = (): Fix => ({
  say: 'Put right what the message names: the secret, or external_auth of the salt-master.',
});

export const nodes: Fixes<typeof NODES> = {
  // A shown key must be verified, not trusted: a man in the middle shows one, too.
  HostKeyChanged: ({ fingerprint = '', file }, { node }) => ({
    say: `Only if node ${node} was installed anew, and prints this very fingerprint at its console (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub): remove the key that was known, and add the new one.`,
    run: [
      commandLine('ssh-keygen', '-R', node, ...(file === undefined ? [] : ['-f', file])),
      /^SHA256:[A-Za-z0-9+/=]+$/.test(fingerprint)
        ? commandLine('stowage', 'check', 'node', node, '--trust-host-key', fingerprint)
        : trust(node),
    ],
  }),
  HostKeyUnknown: (_, { node }) => ({
    say: `Have node ${node} print the fingerprint of its key at its console (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), and add the key if the host shows that one:`,
    run: [trust(node)],
  }),
  LoginRefused: (_, { node }) => ({
    say: 'The user that stowage watch runs as must get in without a question: put its key among the authorized_keys of the node.',
    run: [onNode(node, 'true')],
  }),
  SudoRefused: ({ user = '' }, { node }) => allowSudo(node, user),
  SaltUnreachable: () => ({
    say: 'Have salt-master and salt-api run.',
    run: ['systemctl start salt-master salt-api'],
  }),
  SaltLoginRefused: permit,
  SaltRightMissing: permit,
  MinionUnknown: ({ minion = '' }) => ({
    say: `Accept the key of the minion on the salt-master, once it is known to be its own; if it has another id, say so by the annotation stowage.dev/salt-minion of its Node.`,
    run: ['salt-key -l all', commandLine('salt-key', '-a', minion)],
  }),
  MinionDown: ({ minion = '' }, { node }) => ({
    say: 'Start salt-minion on the node. It answers, as the salt-master sees it, when the second command says True.',
    run: [
      onNode(node, 'systemctl', 'start', 'salt-minion'),
      commandLine('salt', minion, 'test.ping'),
    ],
  }),
  SaltModuleMissing: syncModules,
  SaltModuleUnloadable: syncModules,
  SaltModuleOld: syncModules,
  ModuleVersionOther: ({ minion, page = '' }) =>
    minion === undefined
      ? { say: `Copy salt/ of this Stowage to the node again: ${page} tells where.` }
      : syncModules({ minion }),
};

function allowSudo(node: string, user: string): Fix {
  const say = `Let user ${user} run what Stowage runs, without a password. Name the folders, volume groups and disks of the node (stowage print sudoers --help).`;
  // The name of the user comes from the node.
  if (!/^[a-z_][a-z0-9_-]*$/.test(user)) return { say };
  // sudo ignores files with a dot in their names: the file that it reads is complete at any time.
  const [next, file] = ['/etc/sudoers.d/stowage.new', '/etc/sudoers.d/stowage'];
  const put = `install -m 0440 /dev/stdin ${next} && visudo -cf ${next} && mv ${next} ${file}`;
  return {
    say,
    run: [
      `${commandLine('stowage', 'print', 'sudoers', '--user', user)} | ${commandLine('ssh', `root@${node}`, put)}`,
    ],
  };
}
